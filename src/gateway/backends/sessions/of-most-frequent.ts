// Finds the items of the owner with the most items.

/**
 * Returns the items in their original order. If several owners have the most items, the first of these owners is
 * chosen.
 */
export function ofMostFrequent<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => string | undefined,
): readonly Item[] {
  let most: readonly Item[] = [];
  for (const own of Map.groupBy(items, ownerOf).values()) if (own.length > most.length) most = own;
  return most;
}
