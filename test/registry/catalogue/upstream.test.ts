// The official format, as a wrapper and as a registry's own answer: documents stay as they are.

import { describe, expect, test } from 'vitest';
import { parseRegistry } from '#registry/catalogue/formats/registry.ts';
import { formatProblem } from '#std/problem.ts';

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const PROVIDED = 'io.modelcontextprotocol.registry/publisher-provided';

const CLOCK = {
  name: 'io.acme/clock',
  description: 'Tells the time',
  version: '1.2.0',
  packages: [{ registryType: 'oci', identifier: 'images.example.com/clock:1.2.0', transport: { type: 'stdio' } }],
  _meta: { [PROVIDED]: { 'io.acme': { any: { tags: ['time', 7], status: 'deprecated', tier: 'Community' } } } },
};
const REMOTE = {
  $schema: 'https://example.com/of-our-own',
  version: 'banana',
  name: 'io.acme/remote',
  unknown: [{ deep: true }],
  title: 'Remote',
  description: 'Elsewhere',
  remotes: [
    { type: 'streamable-http', url: 'https://mcp.example.com/mcp', headers: [], variables: { a: {} } },
    { type: 'sse', url: '{scheme}://mcp.example.com/sse' },
  ],
};

function parsed(root: object) {
  const result = parseRegistry('upstream', JSON.stringify(root, null, 1), 'feed.json');
  if (!result.ok) throw new Error(formatProblem(result.problem));
  return result;
}

function listOf(meta: object, server: object = CLOCK) {
  return parsed({ servers: [{ server, _meta: { [OFFICIAL]: meta } }], metadata: { count: 1 } });
}

describe('an entry is the document itself, and what can be found in it', () => {
  test('of the wrapper', () => {
    const { entries, rejected } = parsed({
      version: '1.0.0',
      meta: {},
      data: { servers: [CLOCK, REMOTE], skills: [] },
    });
    expect(rejected).toEqual([]);
    expect(entries).toEqual([
      {
        name: 'io.acme/clock',
        version: '1.2.0',
        document: CLOCK,
        description: 'Tells the time',
        tags: ['time'],
        status: 'deprecated',
        tier: 'Community',
        transports: ['stdio'],
        images: ['images.example.com/clock:1.2.0'],
      },
      {
        name: 'io.acme/remote',
        version: 'banana',
        document: REMOTE,
        title: 'Remote',
        description: 'Elsewhere',
        tags: [],
        status: 'active',
        transports: ['streamable-http', 'sse'],
        images: [],
      },
    ]);
    expect(Object.keys(entries[1]!.document)).toEqual(Object.keys(REMOTE));
  });

  test('of a bare list, and of the official answer to one', () => {
    expect(parsed({ servers: [CLOCK] }).entries[0]?.document).toEqual(CLOCK);
    expect(listOf({}).entries[0]?.document).toEqual(CLOCK);
  });

  test.each([
    { meta: { status: 'deleted' }, found: { status: 'deleted' }, reason: 'the official status outranks the document' },
    { meta: {}, found: { status: 'deprecated' }, reason: 'without one the document counts' },
    { meta: { isLatest: false }, found: { isLatest: false }, reason: 'what upstream calls the latest is kept' },
    {
      meta: { publishedAt: '2026-01-01T02:00:00.123456+02:00' },
      found: { publishedAt: '2026-01-01T00:00:00.123Z' },
      reason: 'times are kept in UTC',
    },
    {
      meta: { status: 'deprecated', statusMessage: 'Use clock2', statusChangedAt: '2026-01-01T02:00:00+02:00' },
      found: { status: 'deprecated', statusMessage: 'Use clock2', statusChangedAt: '2026-01-01T00:00:00.000Z' },
      reason: 'why and since when the status is what it is',
    },
    {
      meta: { publishedAt: '0001-01-01t00:00:00z' },
      found: { publishedAt: '0001-01-01T00:00:00.000Z' },
      reason: 'the zero time of others is a time',
    },
  ])('$reason', ({ meta, found }) => {
    expect(listOf(meta).entries[0]).toMatchObject(found);
  });

  test.each([
    {
      pkg: { identifier: 'acme/clock', version: '1.0' },
      images: ['acme/clock', 'acme/clock:1.0'],
      reason: 'with its version',
    },
    {
      pkg: { identifier: 'acme/clock', version: '1.0', registryBaseUrl: 'https://images.example.com' },
      images: ['acme/clock', 'acme/clock:1.0', 'images.example.com/acme/clock:1.0'],
      reason: 'with its registry and version',
    },
  ])('an image of the older form counts $reason', ({ pkg, images }) => {
    const packages = [{ registryType: 'oci', transport: { type: 'stdio' }, ...pkg }];
    expect(parsed({ servers: [{ ...CLOCK, packages }] }).entries[0]?.images).toEqual(images);
  });

  test('packages that are no containers have no image', () => {
    const packages = [{ registryType: 'npm', identifier: '@acme/clock', version: '1.0', transport: { type: 'stdio' } }];
    expect(parsed({ servers: [{ ...CLOCK, packages }] }).entries[0]?.images).toEqual([]);
  });
});

describe('an invalid entry is rejected with its place and the others are kept', () => {
  test.each([
    { change: { name: undefined }, pointer: '', says: 'must have a member "name"', name: undefined },
    { change: { name: 'no-slash' }, pointer: '/name', says: 'reverse-DNS', name: 'no-slash' },
    { change: { description: '' }, pointer: '/description', says: 'must not be empty', name: 'io.acme/clock' },
    { change: { version: 'latest' }, pointer: '/version', says: 'other than "latest"', name: 'io.acme/clock' },
    { change: { version: '1 2' }, pointer: '/version', says: 'without blanks', name: 'io.acme/clock' },
    { change: { version: 'x'.repeat(256) }, pointer: '/version', says: '255', name: 'io.acme/clock' },
    { change: { packages: {} }, pointer: '/packages', says: 'must be array', name: 'io.acme/clock' },
    {
      change: { packages: [{ registryType: 'oci', identifier: 'x' }] },
      pointer: '/packages/0',
      says: 'must have a member "transport"',
      name: 'io.acme/clock',
    },
    {
      change: { remotes: [{ type: 'stdio', url: 'https://x.example.com' }] },
      pointer: '/remotes/0/type',
      says: 'must be one of',
      name: 'io.acme/clock',
    },
    {
      change: { remotes: [{ type: 'sse', url: 'ftp://x' }] },
      pointer: '/remotes/0/url',
      says: 'must be an http',
      name: 'io.acme/clock',
    },
  ])('$pointer $says', ({ change, pointer, says, name }) => {
    const { entries, rejected } = parsed({ data: { servers: [REMOTE, { ...CLOCK, ...change }] } });
    expect(entries.map((entry) => entry.name)).toEqual(['io.acme/remote']);
    expect(rejected).toMatchObject([
      { problem: { code: 'registry-entry-invalid', pointer: `/data/servers/1${pointer}` } },
    ]);
    expect(rejected[0]?.problem.message).toContain(says);
    expect(rejected[0]?.problem.place).toMatchObject({ file: 'feed.json', line: expect.any(Number) });
    expect(rejected[0]?.name).toBe(name);
  });

  test.each([
    { meta: { status: 'gone' }, pointer: '/status', says: 'must be one of active, deprecated, deleted' },
    { meta: { publishedAt: 'yesterday' }, pointer: '/publishedAt', says: 'must be an RFC 3339 time' },
    { meta: { publishedAt: '2026-13-45T99:00:00Z' }, pointer: '/publishedAt', says: 'must be an RFC 3339 time' },
    { meta: { publishedAt: '0000-01-01T00:00:00Z' }, pointer: '/publishedAt', says: 'must be an RFC 3339 time' },
    { meta: { statusChangedAt: 'now' }, pointer: '/statusChangedAt', says: 'must be an RFC 3339 time' },
    { meta: { statusMessage: 'x'.repeat(501) }, pointer: '/statusMessage', says: 'must NOT have more than 500' },
    { meta: { isLatest: 'yes' }, pointer: '/isLatest', says: 'must be boolean' },
  ])('in what the registry adds: $pointer $says', ({ meta, pointer, says }) => {
    const { entries, rejected } = listOf(meta);
    expect(entries).toEqual([]);
    const where = `/servers/0/_meta/io.modelcontextprotocol.registry~1official${pointer}`;
    expect(rejected).toMatchObject([{ name: 'io.acme/clock', problem: { pointer: where } }]);
    expect(rejected[0]?.problem.message).toContain(says);
  });

  test('two entries of one name and version: the first is kept', () => {
    const { entries, rejected } = parsed({
      servers: [CLOCK, { ...CLOCK, version: '2.0.0' }, { ...CLOCK, title: 'Other' }],
    });
    expect(entries.map(({ version, title }) => [version, title])).toEqual([
      ['1.2.0', undefined],
      ['2.0.0', undefined],
    ]);
    expect(rejected).toMatchObject([{ problem: { code: 'registry-entry-duplicate', pointer: '/servers/2' } }]);
  });
});

describe('a text that is no list of servers gives one clear line', () => {
  test.each([
    { root: { servers: { a: {} } }, says: 'this is a registry file of the format "toolhive", not "upstream"' },
    { root: { data: {} }, says: 'a registry file has a list "data.servers" or "servers"' },
    { root: 'text', says: 'a registry file is a JSON object' },
    { root: { servers: [CLOCK], metadata: { nextCursor: 'abc' } }, says: 'this is one page of a longer list' },
  ])('$says', ({ root, says }) => {
    const result = parseRegistry('upstream', JSON.stringify(root), 'feed.json');
    expect(result.ok ? '' : formatProblem(result.problem)).toContain(`error registry-wrong-shape: ${says}`);
  });

  test('an empty list is one', () => {
    expect(parsed({ servers: [], metadata: { count: 0 } }).entries).toEqual([]);
  });
});
