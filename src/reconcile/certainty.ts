// Settles what comparing could not: asks the server by a dry run, once, and remembers answers by digest.
// Source: ownership.md sections 6 and 7. Knows nothing about specs.

import type { KubeObject } from '../kube/object.ts';
import { entryOf } from '../kube/ownership/entries.ts';
import { Failure } from '../std/failure.ts';
import { digest } from '../std/hash.ts';
import { jsonEquals } from '../std/json.ts';
import type { Compared } from './diff.ts';
import type { Cluster } from './ports.ts';

/** Fingerprint of the living object by fingerprint of the desired one: pairs that an apply is known not to change. */
export interface Remembered {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

/** The same list with every `unknown` decided, and every `changed` that is known to change nothing set right. */
export async function ascertain(
  cluster: Pick<Cluster, 'apply'>,
  compared: readonly Compared[],
  manager: string,
  remembered: Remembered,
): Promise<readonly Compared[]> {
  return Promise.all(compared.map((each) => ascertainOne(cluster, each, manager, remembered)));
}

async function ascertainOne(
  cluster: Pick<Cluster, 'apply'>,
  compared: Compared,
  manager: string,
  remembered: Remembered,
): Promise<Compared> {
  const { desired, live, verdict } = compared;
  if (live === undefined || verdict === 'create' || verdict === 'unchanged') return compared;
  // What is yet to be made at random is no part of what is remembered.
  if (desired.random !== undefined) return compared;
  if (remembered.get(keyFor(desired.object, live)) === fingerprint(live, manager)) {
    return { ...compared, verdict: 'unchanged', diff: [] };
  }
  if (verdict === 'changed') return compared;
  try {
    const answer = await cluster.apply(desired.object, { dryRun: true, force: true });
    if (!sameContent(answer, live)) return { ...compared, verdict: 'changed' };
    remember(remembered, desired.object, live, manager);
    return { ...compared, verdict: 'unchanged', diff: [] };
  } catch (error) {
    // A refusal is reported where the change is applied for real.
    if (error instanceof Failure) return { ...compared, verdict: 'changed' };
    throw error;
  }
}

/** Notes that applying `desired` left `live` as it is. */
function remember(remembered: Remembered, desired: KubeObject, live: KubeObject, manager: string): void {
  remembered.set(keyFor(desired, live), fingerprint(live, manager));
}

/** Equal but for what a no-op apply moves all the same: entry times and order, resourceVersion, generation. */
function sameContent(a: KubeObject, b: KubeObject): boolean {
  return jsonEquals(content(a), content(b)) && jsonEquals(entries(a), entries(b));
}

function keyFor(desired: KubeObject, live: KubeObject): string {
  return `${live.metadata.uid ?? ''}:${digest(desired)}`;
}

function fingerprint(live: KubeObject, manager: string): string {
  return digest([content(live), entryOf(live, manager)?.fieldsV1 ?? null]);
}

function content(object: KubeObject): unknown {
  const { status: _status, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function entries(object: KubeObject): unknown {
  const all = (object.metadata.managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return all.map((entry) => digest(entry)).sort();
}
