// The versions of a source without their documents, in order: what lists are found in. A look at all of them costs less
// than asking the database, whatever is asked for. Pure: knows no SQL.

import type { FacetCount, Facets, ListQuery, Status } from '../../catalogue/ports.ts';

/** What can be asked for of a version. */
export interface Outlined {
  readonly name: string;
  readonly version: string;
  readonly status: Status;
  readonly isLatest: boolean;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** `searchText` of it. */
  readonly search: string;
  readonly tags: readonly string[];
  readonly tier: string | undefined;
  readonly transports: readonly string[];
}

export interface VersionId {
  readonly name: string;
  readonly version: string;
}

export interface Found {
  readonly ids: readonly VersionId[];
  /** True where more follow the last one. */
  readonly more: boolean;
}

/** What a search looks into. A separator nobody types keeps the parts from running into each other. */
export function searchText(name: string, title: string, description: string): string {
  return foldCase(`${name}\u001f${title}\u001f${description}`);
}

/** Lower case by Unicode: the database's own depends on its locale. */
function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** `outlined`, `changes`: in order. A change stands for the version as it is now. */
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

/** In order. */
export interface Outline {
  readonly outlined: readonly Outlined[];
  /** The search texts of so many versions in a row each. */
  readonly blocks: readonly string[];
}

/** One look into a block costs hardly more than one into a text, and nearly always says that nothing is there. */
const BLOCK = 64;

/** `outlined`: in order. */
export function outlineFrom(outlined: readonly Outlined[]): Outline {
  const blocks: string[] = [];
  for (let at = 0; at < outlined.length; at += BLOCK) {
    // Versions of a server often have one text. A line break is in no search.
    const texts = new Set(outlined.slice(at, at + BLOCK).map(({ search }) => search));
    blocks.push([...texts].join('\n'));
  }
  return { outlined, blocks };
}

export function findVersions({ outlined, blocks }: Outline, query: ListQuery): Found {
  const fits = testOf(query);
  const text = foldCase(query.search ?? '');
  const ids: VersionId[] = [];
  for (let at = query.after === undefined ? 0 : indexAfter(outlined, query.after); at < outlined.length; ) {
    const blockEnd = at - (at % BLOCK) + BLOCK;
    if (text !== '' && blocks[Math.floor(at / BLOCK)]?.includes(text) === false) {
      at = blockEnd;
      continue;
    }
    for (; at < Math.min(blockEnd, outlined.length); at += 1) {
      const each = outlined[at];
      if (each === undefined || !each.search.includes(text) || !fits(each)) continue;
      if (ids.length === query.limit) return { ids, more: true };
      ids.push(each);
    }
  }
  return { ids, more: false };
}

/** Of the first one that comes after the pair. */
function indexAfter(outlined: readonly Outlined[], pair: VersionId): number {
  let [low, high] = [0, outlined.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = outlined[middle];
    if (each !== undefined && compareVersionIds(each, pair) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Test = (each: Outlined) => boolean;

/** All but the search. */
function testOf(query: ListQuery): Test {
  const { updatedSince, version, includeDeleted } = query;
  const tests: Test[] = [];
  if (!includeDeleted) tests.push(({ status }) => status !== 'deleted');
  if (version === 'latest') tests.push(({ isLatest }) => isLatest);
  else if (version !== undefined) tests.push((each) => each.version === version);
  if (updatedSince !== undefined) {
    const since = Date.parse(updatedSince);
    tests.push(({ updatedAt }) => updatedAt > since);
  }
  tests.push(...facetTests(query));
  return (each) => tests.every((test) => test(each));
}

function facetTests({ tags, tiers, statuses, transports }: ListQuery): Test[] {
  const tests: Test[] = [];
  if (tags !== undefined) tests.push((each) => tags.every((tag) => each.tags.includes(tag)));
  if (tiers !== undefined) {
    const folded = tiers.map(foldCase);
    tests.push(({ tier }) => tier !== undefined && folded.includes(foldCase(tier)));
  }
  if (statuses !== undefined) tests.push(({ status }) => statuses.includes(status));
  if (transports !== undefined) tests.push((each) => each.transports.some((own) => transports.includes(own)));
  return tests;
}

/** Of the latest versions that are not deleted. */
export function facetsOf({ outlined }: Outline): Facets {
  const latest = outlined.filter(({ isLatest, status }) => isLatest && status !== 'deleted');
  return {
    tags: counts(latest.flatMap(({ tags }) => tags)),
    tiers: counts(latest.flatMap(({ tier }) => tier ?? [])),
    statuses: counts(latest.map(({ status }) => status)),
    transports: counts(latest.flatMap(({ transports }) => transports)),
  };
}

function counts(values: readonly string[]): readonly FacetCount[] {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return [...found]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compareByCodePoint(a.value, b.value));
}

/** By name, then by version, as the database orders them. */
export function compareVersionIds(a: VersionId, b: VersionId): number {
  return compareByCodePoint(a.name, b.name) || compareByCodePoint(a.version, b.version);
}

/** By code point, as the collation "C" does; JavaScript itself compares UTF-16 code units. */
function compareByCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Halves of the characters beyond U+FFFF come after all others. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
