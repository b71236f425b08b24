// Finds the items of the owner with the most items.

/**
 * Returns the items in their original order. If several owners have equally many items, returns the items of the first
 * owner.
 */
export function ofMostFrequent<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => string | undefined,
): readonly Item[] {
  let most: readonly Item[] = [];
  for (const own of Map.groupBy(items, ownerOf).values()) if (own.length > most.length) most = own;
  return most;
}
