// Stores items that are added and removed all the time. A Map or Set that changes so often is rebuilt again and again,
// and each of its former tables refers to the next table (V8, OrderedHashTable). Once a former table is in the old
// generation, all former items stay in memory until the next full collection.

export interface Slots<T> {
  /** Returns the place of the item until it is removed. */
  add(item: T): number;
  /** Removes the item. Further calls do nothing until the place is given to another item. */
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
