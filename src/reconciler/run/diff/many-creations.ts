// Groups objects to be created by kind, namespace and account. If a group is large, the server dry-runs only its first
// objects.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Compared } from './compared.ts';

/**
 * Number of objects per group that are dry-run. If every run fails to create an object, the object becomes one of the
 * first objects once the other objects exist. The dry run then refuses the object, so that runs stop trying to create
 * it.
 */
const FIRST = 16;

/** Returns a map from the key of each further object of a large group to the keys of the first objects of the group. */
export function firstOfMany(
  compared: readonly Compared[],
  accountOf: (object: KubeObject) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const creations = compared.filter(({ result }) => result === 'create');
  const groups = Map.groupBy(creations, ({ desired: { object } }) => {
    const { apiVersion, kind, metadata } = object;
    return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', accountOf(object) ?? '']);
  });
  return new Map(
    [...groups.values()].flatMap((group) => {
      const keys = group.map(({ desired }) => desired.key);
      const first = keys.slice(0, FIRST);
      return keys.slice(FIRST).map((key) => [key, first] as const);
    }),
  );
}
