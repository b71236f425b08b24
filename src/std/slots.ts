// Stores items that are often added and removed. V8 rebuilds a Map or Set with many changes again and again, and each
// old table refers to the next (OrderedHashTable). An old table in the old generation therefore keeps removed items of
// later tables in memory until the next full collection.

export interface Slots<T> {
  /** Returns the slot of the item, which is valid until the item is removed. */
  add(item: T): number;
  /** Removes the item. Repeated calls have no effect until another item gets the slot. */
  remove(place: number): void;
  values(): T[];
}

export function createSlots<T extends object | string>(): Slots<T> {
  const items: (T | undefined)[] = [];
  const free: number[] = [];
  return {
    add(item) {
      const place = free.pop() ?? items.length;
      items[place] = item;
      return place;
    },
    remove(place) {
      if (items[place] === undefined) return;
      items[place] = undefined;
      free.push(place);
    },
    values: () => items.filter((item) => item !== undefined),
  };
}
