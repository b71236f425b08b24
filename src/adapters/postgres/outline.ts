// Filters the versions of a source in memory, without their documents. For every filter, this is cheaper than a
// database query. Pure.

import type { EntryStatus } from '#registry/catalogue/entry.ts';
import type { FacetQuery, ListOrder, ListPosition, ListQuery } from '#registry/catalogue/ports.ts';
import { orderedBy, RANKS } from './order.ts';
import { foldCase, hasWords, type Searched, wordsOf } from './search.ts';

/** Fields of a version that filters use. */
export interface Outlined {
  readonly name: string;
  readonly version: string;
  readonly status: EntryStatus;
  readonly isLatest: boolean;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  readonly searched: Searched;
  readonly tags: readonly string[];
  readonly tier: string | undefined;
  readonly transports: readonly string[];
  readonly stars: number | undefined;
  readonly pulls: number | undefined;
  /** The publisher's time of the change. Defaults to `updatedAt`. */
  readonly changedAt: number;
}

export interface VersionId {
  readonly name: string;
  readonly version: string;
}

export interface OutlinePage {
  readonly ids: readonly Outlined[];
  /** True if more versions that match the query follow. */
  readonly more: boolean;
}

/** Merges two sorted lists. A version in `changes` replaces the version in `outlined`. */
export function merged(outlined: readonly Outlined[], changes: readonly Outlined[]): readonly Outlined[] {
  if (changes.length === 0) return outlined;
  const result: Outlined[] = [];
  let at = 0;
  for (const change of changes) {
    for (let next = outlined[at]; next !== undefined && compareVersionIds(next, change) < 0; next = outlined[at]) {
      result.push(next);
      at += 1;
    }
    const same = outlined[at];
    if (same !== undefined && compareVersionIds(same, change) === 0) at += 1;
    result.push(change);
  }
  return [...result, ...outlined.slice(at)];
}

/** Finds versions in a sorted outline. */
export function findVersions(outlined: readonly Outlined[], query: ListQuery): OutlinePage {
  const { limit, sort } = query;
  const fits = testOf(query);
  const words = wordsOf(query);
  const ordered = sort === undefined ? outlined : orderedBy(outlined, sort);
  const ids: Outlined[] = [];
  for (let at = indexOfFirst(ordered, query); at < ordered.length; at += 1) {
    const each = ordered[at];
    if (each === undefined || !hasWords(each.searched, words) || !fits(each)) continue;
    if (ids.length === limit) return { ids, more: true };
    ids.push(each);
  }
  return { ids, more: false };
}

/** Returns the position at the end of a page whose last version is `each`. The next page begins after it. */
export function positionOf(each: Outlined, sort: ListOrder | undefined): ListPosition {
  const { name, version } = each;
  return sort === undefined ? { name, version } : { name, version, rank: RANKS[sort](each) };
}

function indexOfFirst(ordered: readonly Outlined[], { after, sort }: ListQuery): number {
  if (after === undefined) return 0;
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = ordered[middle];
    if (each !== undefined && comparePositions(positionOf(each, sort), after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Compares by rank, highest first, then by name and version. In a list without ranks, positions have no rank. */
function comparePositions(a: ListPosition, b: ListPosition): number {
  return (b.rank ?? 0) - (a.rank ?? 0) || compareVersionIds(a, b);
}

export type Test = (each: Outlined) => boolean;

/** Returns a test of all conditions except the search. */
function testOf(query: ListQuery): Test {
  const tests = [...baseTests(query), ...Object.values(facetTests(query))];
  return (each) => tests.every((test) => test(each));
}

/** Returns tests of all conditions except the search and the facets. */
export function baseTests({ updatedSince, version, includeDeleted }: FacetQuery): readonly Test[] {
  const tests: Test[] = [];
  if (!includeDeleted) tests.push(({ status }) => status !== 'deleted');
  if (version === 'latest') tests.push(({ isLatest }) => isLatest);
  else if (version !== undefined) tests.push((each) => each.version === version);
  if (updatedSince !== undefined) {
    const since = Date.parse(updatedSince);
    tests.push(({ updatedAt }) => updatedAt > since);
  }
  return tests;
}

export type FacetName = 'tags' | 'tiers' | 'statuses' | 'transports';

/** Returns the query's conditions by facet. */
export function facetTests(query: FacetQuery): Readonly<Partial<Record<FacetName, Test>>> {
  const { tags, tiers, statuses, transports } = query;
  const folded = tiers?.map(foldCase);
  return {
    ...(tags && { tags: (each) => tags.every((tag) => each.tags.includes(tag)) }),
    ...(folded && { tiers: ({ tier }) => tier !== undefined && folded.includes(foldCase(tier)) }),
    ...(statuses && { statuses: ({ status }) => statuses.includes(status) }),
    ...(transports && { transports: (each) => each.transports.some((own) => transports.includes(own)) }),
  };
}

/** Compares by name, then by version, in the order of the database. */
export function compareVersionIds(a: VersionId, b: VersionId): number {
  return compareByCodePoint(a.name, b.name) || compareByCodePoint(a.version, b.version);
}

/** Compares by code point, as the collation "C" does. JavaScript's `<` compares UTF-16 code units. */
export function compareByCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 code unit. Surrogates, which encode characters beyond U+FFFF, come last. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
