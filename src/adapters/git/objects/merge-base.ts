// Finds the merge base of two commits.

import { headersOf } from '../signatures/signed.ts';
import type { ObjectStore } from './objects.ts';
import { parentsOf } from './tree.ts';

interface Visited {
  readonly oid: string;
  /** Committer date in seconds since 1970. */
  readonly date: number;
}

const ONE = 1;
const OTHER = 2;
const BOTH = ONE | OTHER;

/**
 * Returns the newest commit that is in the histories of both commits. The history of a commit includes the commit
 * itself. Reads only as much history as necessary. undefined if no common commit exists, as in a shallow clone.
 */
export function mergeBase(store: ObjectStore, one: string, other: string): string | undefined {
  const marks = new Map<string, number>();
  const queue: Visited[] = [];
  function mark(oid: string, side: number): void {
    const before = marks.get(oid) ?? 0;
    if ((before | side) === before) return;
    marks.set(oid, before | side);
    const date = dateOf(store, oid);
    // Dates are unreliable, so a commit may be visited before it has both marks. It is then visited again.
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

/**
 * Inserts a commit into the queue, whose last commit is the newest. Commits with equal dates are visited in the order
 * of insertion.
 */
function insertByDate(queue: Visited[], visited: Visited): void {
  let [from, to] = [0, queue.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((queue[middle]?.date ?? 0) < visited.date) from = middle + 1;
    else to = middle;
  }
  queue.splice(from, 0, visited);
}

/** Returns undefined if the repository lacks the commit, as at the end of a shallow clone's history. */
function dateOf(store: ObjectStore, oid: string): number | undefined {
  const object = store.read(oid);
  if (object?.type !== 'commit') return undefined;
  const [committer = ''] = headersOf(object.content, 'committer');
  const seconds = Number(/ (\d+) [+-]\d{4}$/.exec(committer)?.[1]);
  return Number.isSafeInteger(seconds) ? seconds : 0;
}
