// Stores the suspension of an instance in a ConfigMap of the home namespace, where every process of the instance reads
// it. Neither Git nor the configuration changes.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { InstanceName } from '../instance.ts';
import type { Clock, Cluster } from '../ports.ts';
import { readRecord, recordId, storeRecord } from './home-record.ts';

export interface Suspension {
  /** Name of the person who suspended the instance, for messages. */
  readonly who: string;
  /** Time in RFC 3339. */
  readonly since: string;
  /** Empty if the person gave no reason. */
  readonly reason: string;
}

type Deps = { readonly cluster: Pick<Cluster, 'get' | 'create' | 'replace'>; readonly clock: Pick<Clock, 'now'> };

const PURPOSE = 'suspension';

/** Returns the suspension; undefined if the instance is not suspended. */
export async function readSuspension(
  cluster: Pick<Cluster, 'get'>,
  home: InstanceName,
): Promise<Suspension | undefined> {
  const stored = await readRecord(cluster, home, PURPOSE);
  return stored === undefined ? undefined : parseSuspension(stored);
}

/**
 * Parses a suspension. A record with only some of the fields also suspends the instance, because writing nothing is
 * safer.
 */
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

/**
 * Suspends the instance. If the instance is already suspended, `since` stays unchanged, and the reason changes only if
 * `reason` is set. Throws Failure `cluster-conflict` if two people suspend at the same moment.
 */
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

/** Ends the suspension and returns it; undefined if the instance was not suspended. */
export async function resume({ cluster }: Pick<Deps, 'cluster'>, home: InstanceName): Promise<Suspension | undefined> {
  const stored = await readRecord(cluster, home, PURPOSE);
  const before = stored === undefined ? undefined : parseSuspension(stored);
  if (stored !== undefined && before !== undefined) await cluster.replace({ ...stored, data: {} });
  return before;
}
