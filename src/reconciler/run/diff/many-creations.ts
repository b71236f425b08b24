// Groups objects that are to be created in large numbers: of one kind, in one namespace, with the rights of one
// account. In the server's dry runs the first ones stand for the others.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Compared } from './compared.ts';

/**
 * Number of dry runs at once. An object that is refused in every run is among the first once the others are created, so
 * none is tried again and again.
 */
const FIRST = 16;

/** Maps the key of each object beyond the first ones to the keys of the first ones. */
export function firstOfMany(
  compared: readonly Compared[],
  accountOf: (object: KubeObject) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const creations = compared.filter(({ verdict }) => verdict === 'create');
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
