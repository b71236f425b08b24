// Creations that the server judges alike: of one kind, in one namespace, with the rights of one account. Of many, the first
// ones stand for all. Knows nothing about how the server is asked.

import type { KubeObject } from '../../kube/object.ts';
import type { Compared } from './compared.ts';

/** Of a few that are refused in every run, each is asked about in every run: none is tried again and again. */
const FIRST = 50;

/** By key: the keys of those that stand for it. What is not in it, or has none, is asked about itself. */
export function standIns(
  compared: readonly Compared[],
  accountOf: (object: KubeObject) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const creations = compared.filter(({ verdict }) => verdict === 'create');
  const alike = Map.groupBy(creations, ({ desired: { object } }) => {
    const { apiVersion, kind, metadata } = object;
    return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', accountOf(object) ?? '']);
  });
  return new Map(
    [...alike.values()].flatMap((each) => {
      const keys = each.map(({ desired }) => desired.key);
      const first = keys.slice(0, FIRST);
      return keys.slice(FIRST).map((key) => [key, first] as const);
    }),
  );
}
