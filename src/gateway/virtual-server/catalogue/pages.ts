// Formats one list of a virtual server for clients: sorted, and cut into pages.

import { hash } from 'node:crypto';
import type { Era } from '../../backends/backend.ts';
import type { ListName } from './list-names.ts';

export interface ListedItem {
  /** Unique key, by which the list is sorted. */
  readonly key: string;
  readonly stateless: Buffer;
  /** Form for clients with sessions. undefined if these clients do not get the item. */
  readonly session: Buffer | undefined;
}

export interface ListPages {
  /** Equal for equal lists. */
  readonly digest: string;
  readonly items: readonly ListedItem[];
  /**
   * Returns JSON members of the result, such as `"tools":[...],"nextCursor":"..."`. For clients with sessions, the
   * bytes include the end of the message. Returns undefined for an invalid cursor.
   */
  page(era: Era, cursor: string | undefined): Buffer | undefined;
}

/** Number of items in a page. The page is large, because many clients read only the first page. */
const PAGE_ITEMS = 1000;

export function createPages(name: ListName, items: readonly ListedItem[]): ListPages {
  const sorted = items.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const made = new Map<string, Buffer>();
  let digest: string | undefined;
  return {
    get digest() {
      digest ??= digestOf(sorted);
      return digest;
    },
    items: sorted,
    page(era, cursor) {
      const start = cursor === undefined ? 0 : startAfter(sorted, cursor);
      if (start === undefined) return undefined;
      const key = `${era} ${start}`;
      const bytes = made.get(key) ?? formatPage(name, sorted, era, start);
      // Only pages at cursors of this list are cached: a cursor of an older list may point into the middle of a page.
      if (start % PAGE_ITEMS === 0) made.set(key, bytes);
      return bytes;
    },
  };
}

function digestOf(items: readonly ListedItem[]): string {
  return hash('sha256', Buffer.concat(items.map(({ stateless }) => stateless)), 'base64url');
}

function formatPage(name: ListName, sorted: readonly ListedItem[], era: Era, start: number): Buffer {
  const end = start + PAGE_ITEMS;
  const parts: Buffer[] = [Buffer.from(`"${name}":[`)];
  for (const item of sorted.slice(start, end)) {
    const bytes = item[era];
    if (bytes === undefined) continue;
    if (parts.length > 1) parts.push(COMMA);
    parts.push(bytes);
  }
  const last = sorted[end - 1];
  const more = last !== undefined && end < sorted.length;
  const after = more ? `,"nextCursor":"${cursorOf(last.key)}"` : '';
  parts.push(Buffer.from(`]${after}${era === 'session' ? MESSAGE_END : ''}`));
  return Buffer.concat(parts);
}

/** Ends the result and the message. */
const MESSAGE_END = '}}';
const COMMA = Buffer.from(',');
const MARK = 'after ';

/** Returns a cursor that contains the key of an item, so that it stays valid when the list changes. */
function cursorOf(key: string): string {
  return Buffer.from(MARK + key).toString('base64url');
}

function startAfter(sorted: readonly ListedItem[], cursor: string): number | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!text.startsWith(MARK)) return undefined;
  const key = text.slice(MARK.length);
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.key ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
