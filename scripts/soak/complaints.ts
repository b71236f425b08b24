// What went wrong, by sort: counted all of it, kept the first few of each.

export interface Complaints {
  add(sort: string, message: string): void;
  /** How many of each sort. */
  readonly counts: ReadonlyMap<string, number>;
  /** The first of each sort, in words. */
  readonly first: readonly string[];
}

const KEPT_OF_EACH = 10;

export function createComplaints(): Complaints {
  const counts = new Map<string, number>();
  const first: string[] = [];
  return {
    add(sort, message) {
      const count = (counts.get(sort) ?? 0) + 1;
      counts.set(sort, count);
      if (count <= KEPT_OF_EACH) first.push(`${sort}: ${message}`);
    },
    counts,
    first,
  };
}
