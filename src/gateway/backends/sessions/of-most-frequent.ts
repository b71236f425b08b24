// Finds the items of the owner with the most items.

/**
 * Keeps the order of the items. If several owners have the most items, returns the items of the first of these owners.
 */
export function ofMostFrequent<Item>(
  items: readonly Item[],
  ownerOf: (item: Item) => string | undefined,
): readonly Item[] {
  let most: readonly Item[] = [];
  for (const own of Map.groupBy(items, ownerOf).values()) if (own.length > most.length) most = own;
  return most;
}
