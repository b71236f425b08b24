// That someone has suspended the instance: a ConfigMap of the home namespace, so that every process of it sees it, and no
// one has to change Git or its configuration for it.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface Suspension {
  /** Who said so, for people. */
  readonly who: string;
  /** RFC 3339. */
  readonly since: string;
  /** Empty where no one gave one. */
  readonly reason: string;
}

type Deps = { readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>; readonly clock: Pick<Clock, 'now'> };

const PURPOSE = 'suspension';

/** Undefined where the instance is not suspended. */
export async function readSuspension(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
): Promise<Suspension | undefined> {
  const stored = await readRecord(cluster, home, PURPOSE);
  return stored === undefined ? undefined : parseSuspension(stored);
}

/** What a person has half written suspends all the same: the safe side is to change nothing. */
function parseSuspension({ data }: KubeObject): Suspension | undefined {
  const fields = isObject(data) ? data : {};
  if (Object.keys(fields).length === 0) return undefined;
  const [who, since, reason] = ['who', 'since', 'reason'].map((name) => fields[name]);
  return {
    who: typeof who === 'string' ? who : 'unknown',
    since: typeof since === 'string' ? since : 'unknown',
    reason: typeof reason === 'string' ? reason : '',
  };
}

/** In place of an earlier one, whose beginning it keeps, and whose reason where none is given. Throws Failure `cluster-conflict` where two do so at once. */
export async function suspend(
  { cluster, clock }: Deps,
  home: InstanceName,
  { who, reason }: Pick<Suspension, 'who'> & { readonly reason: string | undefined },
): Promise<Suspension> {
  const stored = await readRecord(cluster, home, PURPOSE);
  const before = stored === undefined ? undefined : parseSuspension(stored);
  const since = before?.since ?? new Date(clock.now()).toISOString();
  const data = { who, since, reason: reason ?? before?.reason ?? '' };
  await storeRecord(cluster, recordId(home, PURPOSE), stored, { data });
  return data;
}

/** Gives the suspension that ends by this; undefined where there was none. */
export async function resume({ cluster }: Pick<Deps, 'cluster'>, home: InstanceName): Promise<Suspension | undefined> {
  const stored = await readRecord(cluster, home, PURPOSE);
  const before = stored === undefined ? undefined : parseSuspension(stored);
  if (stored !== undefined && before !== undefined) await cluster.replace({ ...stored, data: {} });
  return before;
}
