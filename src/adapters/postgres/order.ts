// Sorts the versions of a source by last change, stars or pulls instead of by name. Each order is computed on first
// use.

import type { ListOrder } from '#registry/catalogue/ports.ts';

interface Ranked {
  readonly changedAt: number;
  readonly stars: number | undefined;
  readonly pulls: number | undefined;
}

/** The rank of a version in each order. */
export const RANKS: Readonly<Record<ListOrder, (each: Ranked) => number>> = {
  changed: ({ changedAt }) => changedAt,
  stars: ({ stars = -1 }) => stars,
  pulls: ({ pulls = -1 }) => pulls,
};

const orders = new WeakMap<readonly Ranked[], Map<ListOrder, readonly Ranked[]>>();

/** Returns the versions with the highest rank first. Versions with equal ranks keep their order. */
export function orderedBy<T extends Ranked>(outlined: readonly T[], sort: ListOrder): readonly T[] {
  const known = orders.get(outlined) ?? new Map<ListOrder, readonly T[]>();
  orders.set(outlined, known);
  const rank = RANKS[sort];
  const ordered = (known.get(sort) as readonly T[] | undefined) ?? outlined.toSorted((a, b) => rank(b) - rank(a));
  known.set(sort, ordered);
  return ordered;
}
