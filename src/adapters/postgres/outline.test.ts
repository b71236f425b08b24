import { expect, test } from 'vitest';
import { seeded } from '../../../test/harness/random.ts';
import { facetsOf } from './facets.ts';
import { compareVersionIds, findVersions, merged, type Outlined, positionOf } from './outline.ts';
import { searchedOf } from './search.ts';

function version(name: string, more: Partial<Outlined> = {}): Outlined {
  return {
    name,
    version: '1.0.0',
    status: 'active',
    isLatest: true,
    updatedAt: 0,
    searched: searchedOf([name]),
    tags: [],
    tier: undefined,
    transports: [],
    stars: undefined,
    pulls: undefined,
    changedAt: 0,
    ...more,
  };
}

/** Sorted by name. */
const MANY = Array.from({ length: 300 }, (_, index) => version(`a/${String(index).padStart(3, '0')}`));

test.each([
  { search: '07', reason: 'in many' },
  { search: '29', reason: 'in a few' },
  { search: '063', reason: 'in one' },
  { search: 'b', reason: 'nowhere' },
  { search: '', reason: 'not asked for' },
])('the pages of a search contain the versions that a test of each version finds: $reason', ({ search }) => {
  const expected = MANY.filter((each) => each.searched.text.includes(search));
  const found: string[] = [];
  for (let more = true, after: Outlined | undefined; more; ) {
    const query = { limit: 7, includeDeleted: false, search, ...(after === undefined ? {} : { after }) };
    const page = findVersions(MANY, query);
    found.push(...page.ids.map(({ name }) => name));
    after = MANY.find(({ name }) => name === found.at(-1));
    more = page.more;
  }
  expect(found).toEqual(expected.map(({ name }) => name));
});

test('a search finds words of any length and any script', () => {
  const random = seeded(1);
  const alphabet = [...'abc -_~7\u00e9\u0436\u6f22\u{1f41d}'];
  const textOf = (length: number) => Array.from({ length }, () => random.pick(alphabet)).join('');
  const all = Array.from({ length: 60 }, (_, index) =>
    version(`a/${index}`, { searched: searchedOf([`a/${index}`, textOf(20), textOf(random.integer(2000))]) }),
  ).toSorted(compareVersionIds);
  for (let round = 0; round < 2000; round += 1) {
    const { text } = random.pick(all).searched;
    const start = random.integer(text.length);
    const search = random.chance(0.5)
      ? textOf(1 + random.integer(6))
      : text.slice(start, start + 1 + random.integer(8));
    const { ids } = findVersions(all, { limit: 100, includeDeleted: false, search });
    const words = search.normalize('NFC').toLowerCase().split(/\s+/);
    const expected = all.filter(({ searched }) => words.every((word) => searched.text.includes(word)));
    expect(ids, JSON.stringify(search)).toEqual(expected);
  }
});

const WORDS = Array.from({ length: 3000 }, (_, index) => ((index + 37) * 7919 ** 2).toString(36));

/** Versions with different texts of about a thousand characters. */
function longTexts(count: number): readonly Outlined[] {
  const random = seeded(2);
  return Array.from({ length: count }, (_, index) => {
    const description = Array.from({ length: 170 }, () => random.pick(WORDS)).join(' ');
    return version(`a/${index}`, { searched: searchedOf([`a/${index}`, description]) });
  });
}

test.each(['nothing has this', 'zq'])('a search for "%s" does not read every long text', (search) => {
  let reads = 0;
  const all = longTexts(3000)
    .filter((each) => !each.searched.text.includes(search))
    .map((each) => ({ ...each, searched: counted(each.searched, () => (reads += 1)) }));
  expect(findVersions(all, { limit: 30, includeDeleted: false, search }).ids).toEqual([]);
  expect(reads).toBeLessThan(all.length / 2);
});

function counted({ text, grams }: Outlined['searched'], count: () => void): Outlined['searched'] {
  return {
    grams,
    get text() {
      count();
      return text;
    },
  };
}

test('versions with equal texts share one object', () => {
  const first = searchedOf(['a/a', 'Text']);
  expect(searchedOf(['a/a', 'Text'], first)).toBe(first);
  expect(searchedOf(['a/a', 'Other'], first)).not.toBe(first);
});

test('merged changes are sorted and replace the changed versions', () => {
  const changed = version('a/100', { status: 'deleted' });
  const changes = [version('a/'), changed, version('a/100', { version: '2.0.0' }), version('b')];
  const result = merged(MANY, changes);
  expect(result).toHaveLength(MANY.length + 3);
  expect(result.toSorted(compareVersionIds)).toEqual(result);
  expect(result.filter(({ name }) => name === 'a/100').map(({ version, status }) => [version, status])).toEqual([
    ['1.0.0', 'deleted'],
    ['2.0.0', 'active'],
  ]);
});

test('texts are ordered by code point, not by UTF-16 code unit', () => {
  const ordered = ['\u007a', '\ud7ff', '\uff41', '\u{10000}', '\u{1f4a3}'];
  const shuffled = ordered.toReversed().map((text) => ({ name: 'a/a', version: text }));
  expect(shuffled.toSorted(compareVersionIds).map((each) => each.version)).toEqual(ordered);
});

test('a list sorted by number contains every version once; equal or missing numbers are sorted by name', () => {
  const stars = [3, undefined, 5, 3, 0];
  const outline = stars.map((count, index) => version(`a/${index}`, { stars: count }));
  const found: string[] = [];
  for (let more = true; more; ) {
    const last = outline.find(({ name }) => name === found.at(-1));
    const after = last && { after: positionOf(last, 'stars') };
    const page = findVersions(outline, { limit: 2, includeDeleted: false, sort: 'stars', ...after });
    found.push(...page.ids.map(({ name }) => name));
    more = page.more;
  }
  expect(found).toEqual(['a/2', 'a/0', 'a/3', 'a/4', 'a/1']);
  const gone = { name: 'z/none', version: '1.0.0', rank: -1 };
  expect(findVersions(outline, { limit: 2, includeDeleted: false, sort: 'stars', after: gone }).more).toBe(false);
});

test('a page of a list sorted by number continues after the previous page, even if its last version has moved', () => {
  const before = [90, 100, 80, 70].map((count, index) => version(`a/${index}`, { stars: count }));
  const query = { limit: 1, includeDeleted: false, sort: 'stars' } as const;
  const [last] = findVersions(before, query).ids;
  const after = positionOf(last!, 'stars');
  expect(after).toEqual({ name: 'a/1', version: '1.0.0', rank: 100 });
  const fallen = before.map((each) => (each.name === 'a/1' ? { ...each, stars: 3 } : each));
  expect(findVersions(fallen, { ...query, limit: 2, after }).ids.map(({ name }) => name)).toEqual(['a/0', 'a/2']);
  const third = { name: 'a/2', version: '1.0.0', rank: 80 };
  const risen = before.map((each) => (each.name === 'a/2' ? { ...each, stars: 500 } : each));
  expect(findVersions(risen, { ...query, limit: 9, after: third }).ids.map(({ name }) => name)).toEqual(['a/3']);
});

test("facets count matching versions, without the facet's own condition if its values are alternatives", () => {
  const outline = [
    version('a/clock', { tags: ['time', 'zones'], tier: 'Official', transports: ['stdio'] }),
    version('a/mail', { tags: ['mail'], tier: 'Community', transports: ['sse'] }),
    version('a/watch', { tags: ['time'], tier: 'Community', transports: ['sse', 'stdio'] }),
    version('a/old', { tags: ['time'], isLatest: false, transports: ['stdio'] }),
  ];
  const counted = facetsOf(outline, { version: 'latest', includeDeleted: false, tags: ['time'], transports: ['sse'] });
  expect(counted).toEqual({
    total: 1,
    tags: [{ value: 'time', count: 1 }],
    tiers: [{ value: 'Community', count: 1 }],
    statuses: [{ value: 'active', count: 1 }],
    transports: [
      { value: 'stdio', count: 2 },
      { value: 'sse', count: 1 },
    ],
  });
  expect(facetsOf(outline, { version: 'latest', includeDeleted: false, search: 'A/ c' }).total).toBe(2);
});
