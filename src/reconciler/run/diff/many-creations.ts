// Objects that are to be created in numbers: of one kind, in one namespace, with the rights of one account. The first ones
// stand for the others before the server.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Compared } from './compared.ts';

/**
 * As many as are asked about at once. What is refused in every run is among the first once the others are created: none is
 * tried again and again.
 */
const FIRST = 16;

/** By key of each that is beyond the first ones: the keys of those. */
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
