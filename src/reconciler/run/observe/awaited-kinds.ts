// Waits for kinds whose definitions the run has just applied, so that the same run can apply their objects.

import { groupOf, keyOf } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import type { ChangeOutcome } from '../apply/apply.ts';
import type { Clock, Cluster } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';
import { formatGroupKind, type GroupKind, groupKindOf } from './snapshot.ts';

/** Returns the kinds that CustomResourceDefinitions among the resources define. */
export function definedKinds(loaded: readonly LoadedResource[]): readonly GroupKind[] {
  return loaded.flatMap(({ object }) => {
    const { apiVersion, kind, spec } = object;
    if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io' || !isObject(spec))
      return [];
    const names = isObject(spec.names) ? spec.names : {};
    return [{ group: String(spec.group), kind: String(names.kind) }];
  });
}

/** Returns the kinds of the resources that were not served before, and whose definition this run has applied. */
export function awaitedKinds(
  loaded: readonly LoadedResource[],
  served: (kind: GroupKind) => unknown,
  outcomes: readonly ChangeOutcome[],
): readonly GroupKind[] {
  const applied = new Set(
    outcomes
      .filter(({ action }) => action === 'created' || action === 'configured')
      .map(({ resource }) => keyOf(resource)),
  );
  const defined = new Set(definedKinds(loaded.filter(({ id }) => applied.has(keyOf(id)))).map(formatGroupKind));
  const missing = loaded.map(({ id }) => groupKindOf(id)).filter((kind) => served(kind) === undefined);
  const named = new Map(missing.map((kind) => [formatGroupKind(kind), kind]));
  return [...named].flatMap(([name, kind]) => (defined.has(name) ? [kind] : []));
}

/** Waits until the server serves the kinds. Returns false after a timeout: the next run then applies the objects. */
export async function checkServed(
  { cluster, clock }: { readonly cluster: Pick<Cluster, 'resources' | 'refresh'>; readonly clock: Clock },
  kinds: readonly GroupKind[],
): Promise<boolean> {
  const deadline = clock.monotonic() + WAIT_MS;
  for (;;) {
    cluster.refresh();
    const served = new Set((await cluster.resources()).map((each) => formatGroupKind(groupKindOf(each))));
    if (kinds.every((kind) => served.has(formatGroupKind(kind)))) return true;
    if (clock.monotonic() >= deadline) return false;
    await clock.sleep(POLL_MS);
  }
}

/** Maximum wait in milliseconds. A server serves a kind one or two seconds after it has accepted the definition. */
const WAIT_MS = 20_000;
const POLL_MS = 250;
