// Groups objects that will be created in large numbers: of one kind, in one namespace, with the rights of one account.
// The server dry-runs only the first objects of each group.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Compared } from './compared.ts';

/**
 * Number of objects per group that are dry-run. An object that the server refuses in every run is among the first once
 * the remaining objects are created, so that no object is tried again and again.
 */
const FIRST = 16;

/** Maps the key of each remaining object to the keys of the first objects of its group. */
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
