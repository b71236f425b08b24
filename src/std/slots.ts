// Things that come and go all the time. A Map or Set that changes so often is rebuilt again and again, and each table that
// it leaves behind refers to the next one (V8, OrderedHashTable): once one is old, everything that was ever in flight stays
// until the next full collection.

export interface Slots<T> {
  /** The place of the item until it is removed. */
  add(item: T): number;
  /** Further calls do nothing until the place is given to another item. */
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
