// Finds the items of the owner that has most of them.

/** Keeps the order; if several owners have as many, returns the items of the first one. */
export function ofMostFrequent<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => string | undefined,
): readonly Item[] {
  let most: readonly Item[] = [];
  for (const own of Map.groupBy(items, ownerOf).values()) if (own.length > most.length) most = own;
  return most;
}
