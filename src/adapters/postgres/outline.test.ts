import { expect, test } from 'vitest';
import { facetsOf } from './facets.ts';
import { compareVersionIds, findVersions, merged, type Outlined, outlineFrom } from './outline.ts';

function version(name: string, more: Partial<Outlined> = {}): Outlined {
  return {
    name,
    version: '1.0.0',
    status: 'active',
    isLatest: true,
    updatedAt: 0,
    search: name,
    tags: [],
    tier: undefined,
    transports: [],
    stars: undefined,
    pulls: undefined,
    changedAt: 0,
    ...more,
  };
}

/** More than a block, in order. */
const MANY = Array.from({ length: 300 }, (_, index) => version(`a/${String(index).padStart(3, '0')}`));

test.each([
  { search: '07', reason: 'in every block' },
  { search: '29', reason: 'in two of them' },
  { search: '063', reason: 'at the end of one' },
  { search: '064', reason: 'at the beginning of the next' },
  { search: 'b', reason: 'nowhere' },
  { search: '', reason: 'not asked for' },
])('pages of a search hold what a look at each version would: $reason', ({ search }) => {
  const outline = outlineFrom(MANY);
  const expected = MANY.filter((each) => each.search.includes(search));
  const found: string[] = [];
  for (let more = true, after: Outlined | undefined; more; ) {
    const query = { limit: 7, includeDeleted: false, search, ...(after === undefined ? {} : { after }) };
    const page = findVersions(outline, query);
    found.push(...page.ids.map(({ name }) => name));
    after = MANY.find(({ name }) => name === found.at(-1));
    more = page.more;
  }
  expect(found).toEqual(expected.map(({ name }) => name));
});

test('changes come in order, in place of what they change', () => {
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

test('an order by number gives every version once, the highest first, equals and those without a number by name', () => {
  const stars = [3, undefined, 5, 3, 0];
  const outline = outlineFrom(stars.map((count, index) => version(`a/${index}`, { stars: count })));
  const found: string[] = [];
  for (let more = true; more; ) {
    const last = found.at(-1);
    const after = last === undefined ? {} : { after: { name: last, version: '1.0.0' } };
    const page = findVersions(outline, { limit: 2, includeDeleted: false, sort: 'stars', ...after });
    found.push(...page.ids.map(({ name }) => name));
    more = page.more;
  }
  expect(found).toEqual(['a/2', 'a/0', 'a/3', 'a/4', 'a/1']);
  const gone = { name: 'z/none', version: '1.0.0' };
  expect(findVersions(outline, { limit: 2, includeDeleted: false, sort: 'stars', after: gone }).more).toBe(false);
});

test('what a list can be narrowed by is counted in what fits, without the own filter of groups of which one is enough', () => {
  const outline = outlineFrom([
    version('a/clock', { tags: ['time', 'zones'], tier: 'Official', transports: ['stdio'] }),
    version('a/mail', { tags: ['mail'], tier: 'Community', transports: ['sse'] }),
    version('a/watch', { tags: ['time'], tier: 'Community', transports: ['sse', 'stdio'] }),
    version('a/old', { tags: ['time'], isLatest: false, transports: ['stdio'] }),
  ]);
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
