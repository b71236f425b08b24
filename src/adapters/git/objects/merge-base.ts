// Finds the commit in which two histories meet.

import { headersOf } from '../signatures/signed.ts';
import type { ObjectStore } from './objects.ts';
import { parentsOf } from './tree.ts';

interface Visited {
  readonly oid: string;
  /** Seconds since 1970, as its committer's clock had them. */
  readonly date: number;
}

const ONE = 1;
const OTHER = 2;
const BOTH = ONE | OTHER;

/**
 * Returns the newest commit in the histories of both commits, which include the commits themselves. Reads no further
 * back than necessary. Returns undefined if the repository has no common commit, as in a shallow clone.
 */
export function mergeBase(store: ObjectStore, one: string, other: string): string | undefined {
  const marks = new Map<string, number>();
  const queue: Visited[] = [];
  function mark(oid: string, side: number): void {
    const before = marks.get(oid) ?? 0;
    if ((before | side) === before) return;
    marks.set(oid, before | side);
    const date = dateOf(store, oid);
    // Clocks differ: a commit that was visited before is visited again with its new mark.
    if (date !== undefined) insertByDate(queue, { oid, date });
  }
  mark(one, ONE);
  mark(other, OTHER);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const side = marks.get(next.oid) ?? 0;
    if (side === BOTH) return next.oid;
    for (const parent of parentsOf(store, next.oid)) mark(parent, side);
  }
  return undefined;
}

/** Inserts a commit into the queue, whose newest commit is last. Commits with equal dates stay in the order found. */
function insertByDate(queue: Visited[], visited: Visited): void {
  let [from, to] = [0, queue.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((queue[middle]?.date ?? 0) < visited.date) from = middle + 1;
    else to = middle;
  }
  queue.splice(from, 0, visited);
}

/** Returns undefined if the repository does not have the commit: the history of a shallow clone ends there. */
function dateOf(store: ObjectStore, oid: string): number | undefined {
  const object = store.read(oid);
  if (object?.type !== 'commit') return undefined;
  const [committer = ''] = headersOf(object.content, 'committer');
  const seconds = Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1]);
  return Number.isSafeInteger(seconds) ? seconds : 0;
}
