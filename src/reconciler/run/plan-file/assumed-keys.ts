// Assumes that a Secret or ConfigMap has each key to which a manifest refers, if the snapshot does not contain its
// keys.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { InstanceName, OwnKinds } from '../instance.ts';
import { isLarge } from '../observe/large-contents.ts';
import type { Cluster } from '../ports.ts';
import { type FleetSource, gather } from '../read/gather.ts';
import type { LoadCache } from '../read/source-file.ts';
import type { Sourced } from '../read/sourced.ts';
import { readQuarantine } from '../records/quarantine.ts';
import type { KnownObject, StateSnapshot } from './state-snapshot-format.ts';

/** Assumed data keys by the key of the object. */
export type AssumedKeys = ReadonlyMap<string, readonly string[]>;

interface AssumeInput {
  readonly deps: { readonly cache: LoadCache };
  readonly options: InstanceName & OwnKinds;
  readonly snapshot: StateSnapshot;
  readonly before: readonly FleetSource[];
  readonly after: readonly FleetSource[];
}

export async function readNamedKeys(input: AssumeInput, cluster: Cluster): Promise<AssumedKeys> {
  const { deps, options, snapshot, before, after } = input;
  const unknown = new Set(snapshot.objects.filter(hasUnknownKeys).map(({ resource }) => keyOf(resource)));
  if (unknown.size === 0) return new Map();
  const { kinds, apiGroup } = options;
  const { cache } = deps;
  const quarantine = readQuarantine(cluster, options);
  const read = (sources: readonly FleetSource[]) => gather({ sources, kinds, apiGroup, cache, cluster, quarantine });
  const named = new Map<string, string[]>();
  for (const { loaded } of [await read(before), await read(after)]) {
    for (const [object, key] of loaded.flatMap(keysNamedBy)) {
      if (unknown.has(object)) named.set(object, [...(named.get(object) ?? []), key]);
    }
  }
  return named;
}

export function hasUnknownKeys({ resource, keys }: KnownObject): boolean {
  return keys === undefined && isLarge(resource);
}

/**
 * Returns pairs of a Secret or ConfigMap, as `keyOf` its id, and a data key in it to which the resource refers.
 */
export function keysNamedBy({ id: { namespace }, kind, defaulted }: Sourced): [string, string][] {
  if (kind === undefined || defaulted === undefined) return [];
  return kind.references(defaulted).flatMap(({ kind: target, name, key }): [string, string][] => {
    const id = { apiVersion: 'v1', kind: target, namespace, name };
    return key === undefined || !isLarge(id) ? [] : [[keyOf(id), key]];
  });
}
