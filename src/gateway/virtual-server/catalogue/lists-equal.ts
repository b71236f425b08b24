// Compares a member's lists at two times.

import { jsonEquals } from '#std/json.ts';
import { LIST_NAMES } from './list-names.ts';
import type { MemberLists, OfferedItem } from './lists.ts';

/** Returns whether capabilities are equal, and items are equal byte for byte in the same order. */
export function listsEqual(a: MemberLists, b: MemberLists): boolean {
  return (
    jsonEquals(a.capabilities, b.capabilities) && LIST_NAMES.every((name) => itemsEqual(a.lists[name], b.lists[name]))
  );
}

function itemsEqual(a: readonly OfferedItem[], b: readonly OfferedItem[]): boolean {
  return a.length === b.length && a.every((item, index) => bytesEqual(item, b[index]));
}

function bytesEqual(a: OfferedItem, b: OfferedItem | undefined): boolean {
  if (b === undefined) return false;
  const [of, as] = [a.item.span, b.item.span];
  return a.page.compare(b.page, as.start, as.end, of.start, of.end) === 0;
}
