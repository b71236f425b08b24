// The versions of a source in another order than that of their names: by last change, stars, pulls. Made when it is first
// asked for.

import type { Sort } from '#registry/catalogue/ports.ts';

/** What it is ordered by. */
interface Ranked {
  readonly changedAt: number;
  readonly stars: number | undefined;
  readonly pulls: number | undefined;
}

/** What it is ordered by, as a number. */
export const RANKS: Readonly<Record<Sort, (each: Ranked) => number>> = {
  changed: ({ changedAt }) => changedAt,
  stars: ({ stars = -1 }) => stars,
  pulls: ({ pulls = -1 }) => pulls,
};

const orders = new WeakMap<readonly Ranked[], Map<Sort, readonly Ranked[]>>();

/** The highest first; equals stay as they are. */
export function orderedBy<T extends Ranked>(outlined: readonly T[], sort: Sort): readonly T[] {
  const known = orders.get(outlined) ?? new Map<Sort, readonly T[]>();
  orders.set(outlined, known);
  const rank = RANKS[sort];
  const ordered = (known.get(sort) as readonly T[] | undefined) ?? outlined.toSorted((a, b) => rank(b) - rank(a));
  known.set(sort, ordered);
  return ordered;
}
