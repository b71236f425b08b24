// Tests the routes over a real PostgreSQL: lists, pages, filters, versions, conditional requests, failures. In one
// file, because most tests read the same catalogue of one service.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { KEY, openService, type Service } from './service.ts';

let service: Service;

const JANUARY = '2026-01-01T00:00:00.000Z';
const FEBRUARY = '2026-02-01T00:00:00.000Z';

function entry(name: string, version: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry {
  const description = more.description ?? `About ${name}`;
  return {
    name,
    version,
    document: { $schema: 'https://schema.example/2025-09-29', name, description, version, icons: [{ src: 'x' }] },
    description,
    tags: [],
    status: 'active',
    transports: ['stdio'],
    images: [],
    publishedAt: JANUARY,
    ...more,
  };
}

const ENTRIES: readonly CatalogueEntry[] = [
  entry('io.acme/alpha', '1.0.0', { title: '100% Alpha_One' }),
  entry('io.acme/alpha', '1.10.0', { publishedAt: '2026-01-03T00:00:00.000Z', tags: ['time'], tier: 'Community' }),
  entry('io.acme/alpha', '1.2.0', { publishedAt: '2026-01-02T00:00:00.000Z' }),
  entry('io.acme/beta', '2.0.0', {
    description: 'Talks to PostgreSQL',
    status: 'deprecated',
    tags: ['sql', 'time'],
    tier: 'Official',
    transports: ['sse', 'stdio'],
  }),
  entry('io.acme/gone', '1.0.0'),
  entry('io.acme/odd', '1.0.0+build/7 ü'),
];

beforeAll(async () => {
  service = await openService();
  await service.fill(ENTRIES, JANUARY);
  await service.fill(
    ENTRIES.filter(({ name }) => name !== 'io.acme/gone'),
    FEBRUARY,
  );
});

afterAll(() => service.close());

/** `name@version`, with a star at the latest. */
function names(json: {
  servers: { server: CatalogueEntry; _meta: Record<string, { isLatest: boolean }> }[];
}): string[] {
  return json.servers.map(({ server, _meta }) => {
    const official = _meta['io.modelcontextprotocol.registry/official'];
    return `${server.name}@${server.version}${official?.isLatest === true ? '*' : ''}`;
  });
}

async function check(query: string, expected: readonly string[]): Promise<void> {
  const { status, json } = await service.get(`/tools/v0.1/servers${query}`);
  expect({ status, names: names(json), count: json.metadata.count }).toEqual({
    status: 200,
    names: expected,
    count: expected.length,
  });
}

test('a listing has every version, ordered by name and version as text', async () => {
  await check('', [
    'io.acme/alpha@1.0.0',
    'io.acme/alpha@1.10.0*',
    'io.acme/alpha@1.2.0',
    'io.acme/beta@2.0.0*',
    'io.acme/odd@1.0.0+build/7 ü*',
  ]);
});

test('an entry is the stored document verbatim and what the registry knows of it', async () => {
  const { json, headers } = await service.get('/tools/v0.1/servers?search=beta');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(json).toEqual({
    servers: [
      {
        server: ENTRIES[3]?.document,
        _meta: {
          'io.modelcontextprotocol.registry/official': {
            status: 'deprecated',
            statusChangedAt: JANUARY,
            publishedAt: JANUARY,
            updatedAt: JANUARY,
            isLatest: true,
          },
        },
      },
    ],
    metadata: { count: 1 },
  });
});

test.each([
  { query: '?search=BETA', expected: ['io.acme/beta@2.0.0*'], reason: 'the name, in any case' },
  { query: '?search=postgresql', expected: ['io.acme/beta@2.0.0*'], reason: 'the description' },
  { query: '?search=100%25%20alpha_', expected: ['io.acme/alpha@1.0.0'], reason: 'the title' },
  { query: '?search=%25', expected: ['io.acme/alpha@1.0.0'], reason: 'no wildcard but a percent sign' },
  { query: '?search=a_pha', expected: [], reason: 'no wildcard but an underscore' },
  { query: '?search=%5C', expected: [], reason: 'no escape but a backslash' },
  { query: '?search=%27%3B--', expected: [], reason: 'no SQL' },
  {
    query: '?search=&version=&cursor=&limit=&updated_since=&include_deleted=&x-status=&x-transport=',
    expected: 5,
    reason: 'empty values are none',
  },
  { query: '?limit=101', expected: 5, reason: 'a page has at most 100, whatever is asked for' },
  { query: '?limit=100000', expected: 5, reason: 'also of a client that wants all' },
  { query: '?unknown=1', expected: 5, reason: 'unknown parameters are ignored' },
  {
    query: '?version=latest',
    expected: ['io.acme/alpha@1.10.0*', 'io.acme/beta@2.0.0*', 'io.acme/odd@1.0.0+build/7 ü*'],
    reason: 'the latest of each',
  },
  { query: '?version=1.2.0', expected: ['io.acme/alpha@1.2.0'], reason: 'an exact version' },
  { query: '?version=9', expected: [], reason: 'a version that nobody has' },
  {
    query: `?updated_since=${JANUARY}`,
    expected: ['io.acme/gone@1.0.0*'],
    reason: 'strictly later, deletions included',
  },
  {
    query: `?version=latest&updated_since=${JANUARY}`,
    expected: ['io.acme/gone@1.0.0*'],
    reason: 'who follows the latest versions sees a server go',
  },
  {
    query: '?updated_since=2026-01-31T23:59:59%2B00:00',
    expected: ['io.acme/gone@1.0.0*'],
    reason: 'a time with an offset',
  },
  { query: `?updated_since=${FEBRUARY}`, expected: [], reason: 'nothing is later than the last change' },
  { query: '?updated_since=2026-01-01t00:00:00z&include_deleted=true', expected: 1, reason: 'small letters' },
  { query: '?include_deleted=true&search=gone', expected: ['io.acme/gone@1.0.0*'], reason: 'deletions on request' },
  { query: '?include_deleted=false&search=gone', expected: [], reason: 'no deletions on request' },
  { query: '?x-tag=time', expected: ['io.acme/alpha@1.10.0*', 'io.acme/beta@2.0.0*'], reason: 'a tag' },
  { query: '?x-tag=time&x-tag=sql', expected: ['io.acme/beta@2.0.0*'], reason: 'all of several tags' },
  { query: '?x-tag=TIME', expected: [], reason: 'a tag in the wrong case' },
  { query: '?x-tier=official', expected: ['io.acme/beta@2.0.0*'], reason: 'a tier in any case' },
  { query: '?x-tier=official&x-tier=Community', expected: 2, reason: 'one of several tiers' },
  { query: '?x-status=deprecated', expected: ['io.acme/beta@2.0.0*'], reason: 'a status' },
  {
    query: '?x-status=Deleted',
    expected: ['io.acme/gone@1.0.0*'],
    reason: 'deletions, where they are asked for by name',
  },
  { query: '?x-transport=sse', expected: ['io.acme/beta@2.0.0*'], reason: 'a transport' },
  { query: '?x-transport=sse&x-transport=stdio', expected: 5, reason: 'one of several transports' },
  { query: '?x-sort=name&limit=1', expected: 1, reason: 'the order without a name of its own' },
  { query: '?x-sort=stars', expected: 5, reason: 'an order' },
  { query: '?search=talks%20ACME', expected: ['io.acme/beta@2.0.0*'], reason: 'two words, each anywhere' },
  { query: '?x-tag=&x-tier=', expected: 5, reason: 'empty facets are none' },
  { query: '?x-tag=time&search=postgresql', expected: ['io.acme/beta@2.0.0*'], reason: 'a tag and a text' },
  { query: "?x-tag=');drop+table+catalogue_entry;--", expected: [], reason: 'a tag that would be SQL' },
])('the query $query gives what it asks for: $reason', async ({ query, expected }) => {
  if (typeof expected !== 'number') return check(query, expected);
  const { json } = await service.get(`/tools/v0.1/servers${query}`);
  expect(json.metadata.count).toBe(expected);
});

test.each(['?limit=0', '?limit=-1', '?limit=abc', '?limit=1.5', '?limit=1e1', '?limit=%201', '?limit=5&limit=6'])(
  '%s is not a limit',
  async (query) => {
    const { status, json } = await service.get(`/tools/v0.1/servers${query}`);
    expect(status).toBe(400);
    expect(json.error).toMatch(/^limit must be (a positive integer; at most 100 servers come in one page|given once)$/);
  },
);

test.each([
  'yesterday',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '0000-01-01T00:00:00Z',
  '2026-01-01T00:00:00+00:00',
  '2026-01-01T00:00:00Z;drop',
])('"%s" is not a time', async (time) => {
  const { status, json } = await service.get(`/tools/v0.1/servers?updated_since=${time}`);
  expect({ status, error: json.error }).toEqual({
    status: 400,
    error: 'updated_since must be an RFC 3339 time such as 2026-01-31T12:00:00Z (write + as %2B)',
  });
});

test.each([
  { query: '?include_deleted=yes', error: 'include_deleted must be true or false' },
  {
    query: '?include_deleted=false&updated_since=2026-01-01T00:00:00Z',
    error: 'include_deleted=false cannot be combined with updated_since',
  },
  { query: '?x-status=gone', error: 'x-status must be one of active, deprecated, deleted' },
  {
    query: '?x-status=deleted&include_deleted=false',
    error: 'include_deleted=false cannot be combined with x-status=deleted',
  },
  { query: '?x-tag=%00', error: 'x-tag must not contain control characters' },
  { query: `?x-tag=${'a'.repeat(256)}`, error: 'x-tag must not be longer than 255 characters' },
  { query: `?${'x-tag=a&'.repeat(17)}`, error: 'x-tag must not be given more than 16 times' },
  { query: '?x-sort=size', error: 'x-sort must be one of name, changed, stars, pulls' },
  { query: '?search=a&search=b', error: 'search must be given once' },
  { query: '?search=a%00b', error: 'search must not contain control characters' },
  { query: `?search=${'a'.repeat(256)}`, error: 'search must not be longer than 255 characters' },
  { query: '?version=%0a', error: 'version must not contain control characters' },
])('$query is refused: $error', async ({ query, error }) => {
  const { status, json } = await service.get(`/tools/v0.1/servers${query}`);
  expect({ status, error: json.error }).toEqual({ status: 400, error });
});

async function page(query: string): Promise<{ names: string[]; next: string | undefined }> {
  const { status, json } = await service.get(`/tools/v0.1/servers?${query}`);
  expect(status).toBe(200);
  return { names: names(json), next: json.metadata.nextCursor };
}

test.each([1, 2, 3, 4, 5, 100])('pages of %i give every entry once, and the last one has no cursor', async (limit) => {
  const all: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const got: { names: string[]; next: string | undefined } = await page(`limit=${limit}&cursor=${next}`);
    expect(got.names.length).toBeGreaterThan(0);
    all.push(...got.names);
    next = got.next;
  }
  expect(all).toHaveLength(5);
  expect(new Set(all).size).toBe(5);
});

test('a server whose version is all control characters is listed, paged over and read', async () => {
  const version = '\u0001'.repeat(255);
  const key = { ...KEY, source: 'with/slash' };
  const state = { phase: 'Complete', message: '', attemptCount: 0, serverCount: 2, rejectedCount: 0 } as const;
  const entries = ['io.acme/first', 'io.acme/second'].map((name) => entry(name, version));
  await service.store.replace(key, entries, state, () => JANUARY);
  const first = await service.get('/with%2Fslash/v0.1/servers?limit=1');
  const second = await service.get(`/with%2Fslash/v0.1/servers?limit=1&cursor=${first.json.metadata.nextCursor}`);
  expect([first, second].flatMap(({ json }) => names(json))).toEqual(entries.map(({ name }) => `${name}@${version}*`));
  const one = await service.get(`/with%2Fslash/v0.1/servers/io.acme%2Ffirst/versions/${encodeURIComponent(version)}`);
  expect({ status: one.status, version: one.json.server.version }).toEqual({ status: 200, version });
  await service.store.retain(KEY, ['tools']);
});

test('the page size may change from page to page', async () => {
  const first = await page('limit=2');
  expect((await page(`limit=100&cursor=${first.next}`)).names).toHaveLength(3);
});

test('a cursor can stand in a URL as it is', async () => {
  expect((await page('limit=1')).next).toMatch(/^[A-Za-z0-9_-]+$/);
});

test.each([
  { reason: 'other filters', change: (cursor: string) => `/tools/v0.1/servers?search=alpha&cursor=${cursor}` },
  { reason: 'another order', change: (cursor: string) => `/tools/v0.1/servers?x-sort=stars&cursor=${cursor}` },
  { reason: 'another registry', change: (cursor: string) => `/empty/v0.1/servers?cursor=${cursor}` },
  { reason: 'another facet', change: (cursor: string) => `/tools/v0.1/servers?x-tag=time&cursor=${cursor}` },
  { reason: 'deletions', change: (cursor: string) => `/tools/v0.1/servers?include_deleted=true&cursor=${cursor}` },
  { reason: 'a cut', change: (cursor: string) => `/tools/v0.1/servers?cursor=${cursor.slice(0, -4)}` },
  { reason: 'other characters', change: (cursor: string) => `/tools/v0.1/servers?cursor=${cursor}%3D` },
  { reason: 'a number', change: () => '/tools/v0.1/servers?cursor=12' },
  { reason: 'JSON of another shape', change: () => `/tools/v0.1/servers?cursor=${encode({ name: 'a' })}` },
  {
    reason: 'another format',
    change: (cursor: string) => {
      const [, ...rest]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
      return `/tools/v0.1/servers?cursor=${encode([2, ...rest])}`;
    },
  },
  {
    reason: 'a position that is none',
    change: (cursor: string) => {
      const [format, binding]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
      return `/tools/v0.1/servers?cursor=${encode([format, binding, 1, null])}`;
    },
  },
  { reason: 'the cursor of another service', change: () => '/tools/v0.1/servers?cursor=aW8uYWNtZS9hLDEuMC4w' },
  { reason: 'a length beyond reason', change: () => `/tools/v0.1/servers?cursor=${'a'.repeat(5000)}` },
  { reason: 'two cursors', change: (cursor: string) => `/tools/v0.1/servers?cursor=${cursor}&cursor=${cursor}` },
])('a cursor does not survive $reason', async ({ change }) => {
  const { next = '' } = await page('limit=1');
  const { status, json } = await service.get(change(next));
  expect(status).toBe(400);
  expect(json.error).toMatch(
    /^cursor (is not valid for this registry and these filters; start again without it|must be given once)$/,
  );
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

test('the versions of a server come newest publication first', async () => {
  const { status, json } = await service.get('/tools/v0.1/servers/io.acme%2Falpha/versions');
  expect(status).toBe(200);
  expect(names(json)).toEqual(['io.acme/alpha@1.10.0*', 'io.acme/alpha@1.2.0', 'io.acme/alpha@1.0.0']);
  expect(json.metadata).toEqual({ count: 3 });
});

test.each([
  { version: 'latest', expected: '1.10.0' },
  { version: '1.2.0', expected: '1.2.0' },
])('the version $version of a server is $expected', async ({ version, expected }) => {
  const { status, json } = await service.get(`/tools/v0.1/servers/io.acme%2falpha/versions/${version}`);
  expect({ status, version: json.server.version }).toEqual({ status: 200, version: expected });
  expect(Object.keys(json)).toEqual(['server', '_meta']);
});

test('a version may hold anything that a path can encode', async () => {
  const version = encodeURIComponent('1.0.0+build/7 ü');
  const { status, json } = await service.get(`/tools/v0.1/servers/io.acme%2Fodd/versions/${version}`);
  expect({ status, version: json.server.version }).toEqual({ status: 200, version: '1.0.0+build/7 ü' });
});

test('deleted servers are found among versions on request only', async () => {
  const path = '/tools/v0.1/servers/io.acme%2Fgone/versions';
  expect((await service.get(path)).status).toBe(404);
  const { status, json } = await service.get(`${path}?include_deleted=true`);
  expect({ status, names: names(json) }).toEqual({ status: 200, names: ['io.acme/gone@1.0.0*'] });
  expect(json.servers[0]._meta['io.modelcontextprotocol.registry/official']).toMatchObject({
    status: 'deleted',
    updatedAt: FEBRUARY,
  });
  for (const version of ['latest', '1.0.0', 'latest?include_deleted=']) {
    expect((await service.get(`${path}/${version}`)).status).toBe(404);
  }
  expect((await service.get(`${path}/latest?include_deleted=true`)).json.server.version).toBe('1.0.0');
  const one = await service.get(`${path}/1.0.0?include_deleted=true`);
  expect({ status: one.status, meta: one.json._meta }).toEqual({
    status: 200,
    meta: {
      'io.modelcontextprotocol.registry/official': {
        status: 'deleted',
        statusChangedAt: FEBRUARY,
        publishedAt: JANUARY,
        updatedAt: FEBRUARY,
        isLatest: true,
      },
    },
  });
  expect((await service.get(`${path}/1.0.0?include_deleted=maybe`)).status).toBe(400);
});

test.each([
  { url: '/nobody/v0.1/servers', error: 'registry not found' },
  { url: '/nobody/v0.1/servers/io.acme%2Falpha/versions', error: 'registry not found' },
  { url: '/TOOLS/v0.1/servers', error: 'registry not found' },
  { url: '/tools/v0.1/servers/io.acme%2Fnobody/versions', error: 'server not found' },
  { url: '/empty/v0.1/servers/io.acme%2Falpha/versions', error: 'server not found' },
  { url: '/tools/v0.1/servers/io.acme%2Falpha/versions/9.9.9', error: 'server or version not found' },
  { url: '/tools/v0.1/servers/io.acme%2Fnobody/versions/latest', error: 'server or version not found' },
  { url: `/tools/v0.1/servers/a%2F${'b'.repeat(190)}/versions`, error: 'server not found' },
  { url: '/tools/v0.1/servers/io.acme/alpha/versions', error: 'not found' },
  { url: '/tools/v0.1/servers/io.acme%2Falpha', error: 'not found' },
  { url: '/tools/v0.2/servers', error: 'not found' },
  { url: '/tools', error: 'not found' },
  { url: '/.well-known/oauth-protected-resource', error: 'not found' },
  { url: '/nobody/openapi.yaml', error: 'not found' },
])('$url gets 404: $error', async ({ url, error }) => {
  const { status, text } = await service.get(url);
  expect({ status, text }).toEqual({ status: 404, text: JSON.stringify({ error }) });
});

test.each([
  { url: '/tools/v0.1/servers/alpha/versions', reason: 'no namespace' },
  { url: '/tools/v0.1/servers/%20/versions', reason: 'a blank' },
  { url: '/tools/v0.1/servers/a%2Fb%2Fc/versions/latest', reason: 'two slashes' },
  { url: '/tools/v0.1/servers/a%2Fb%00/versions', reason: 'a control character' },
  { url: '/tools/v0.1/servers/a%252Fb/versions', reason: 'encoded twice' },
  { url: `/tools/v0.1/servers/a%2F${'b'.repeat(199)}/versions`, reason: 'too long' },
])('a server name with $reason gets 400', async ({ url }) => {
  const { status, json } = await service.get(url);
  expect({ status, error: json.error }).toEqual({
    status: 400,
    error: 'server name must have the form namespace/name, with its slash written as %2F',
  });
});

test.each([
  { version: '%20', reason: 'a blank' },
  { version: '%0a', reason: 'a line break' },
  { version: 'a%00', reason: 'a control character' },
  { version: 'a'.repeat(256), reason: 'too long' },
])('$reason is no version', async ({ version }) => {
  const { status } = await service.get(`/tools/v0.1/servers/io.acme%2Falpha/versions/${version}`);
  expect(status).toBe(400);
});

test('a parameter beyond all limits gets 414', async () => {
  const { status, json } = await service.get(`/tools/v0.1/servers/${'a'.repeat(1025)}/versions`);
  expect({ status, json }).toEqual({ status: 414, json: { error: 'uri too long' } });
});

test.each([
  '/tools/v0.1/servers/',
  '/registry/tools/v0.1/servers',
  '/registry/tools/v0.1/servers/',
  '/tools/v0.1/../v0.1/servers',
])('%s is the same listing', async (url) => {
  expect((await service.get(url)).json).toEqual((await service.get('/tools/v0.1/servers')).json);
});

test('a registry without entries is an empty list, and one with a slash in its name is reachable', async () => {
  const empty = { servers: [], metadata: { count: 0 } };
  expect((await service.get('/empty/v0.1/servers')).json).toEqual(empty);
  expect((await service.get('/with%2Fslash/v0.1/servers')).json).toEqual(empty);
});

test('what servers can be filtered by is counted over their latest versions', async () => {
  const facets = await service.get('/tools/v0.1/x/dev.skep/facets');
  expect(facets.json).toEqual({
    total: 3,
    tags: [
      { value: 'time', count: 2 },
      { value: 'sql', count: 1 },
    ],
    tiers: [
      { value: 'Community', count: 1 },
      { value: 'Official', count: 1 },
    ],
    statuses: [
      { value: 'active', count: 2 },
      { value: 'deprecated', count: 1 },
    ],
    transports: [
      { value: 'stdio', count: 3 },
      { value: 'sse', count: 1 },
    ],
  });
  const again = await service.get('/registry/tools/v0.1/x/dev.skep/facets');
  expect(again.json).toEqual(facets.json);
  const named = { 'if-none-match': facets.headers.etag ?? '' };
  expect((await service.get('/tools/v0.1/x/dev.skep/facets', named)).status).toBe(304);
  expect((await service.get('/empty/v0.1/x/dev.skep/facets')).json.tags).toEqual([]);
  const narrowed = await service.get(
    '/tools/v0.1/x/dev.skep/facets?search=talks%20beta&x-status=deprecated&x-sort=stars',
  );
  expect(narrowed.json).toMatchObject({ total: 1, statuses: [{ value: 'deprecated', count: 1 }] });
  expect((await service.get('/tools/v0.1/x/dev.skep/facets?version=1.2.0')).json.total).toBe(1);
  expect((await service.get('/tools/v0.1/x/dev.skep/facets?x-status=new')).status).toBe(400);
});

test('an answer has an entity tag that another request can name', async () => {
  const first = await service.get('/tools/v0.1/servers?limit=2');
  const etag = first.headers.etag ?? '';
  expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
  expect(first.headers).toMatchObject({
    'cache-control': 'public, no-cache',
    vary: expect.stringContaining('Authorization'),
  });
  for (const named of [etag, etag.slice(2), `"x", ${etag}`, `${etag},"y"`]) {
    const again = await service.get('/tools/v0.1/servers?limit=2', { 'if-none-match': named });
    expect({ status: again.status, text: again.text, etag: again.headers.etag }).toEqual({
      status: 304,
      text: '',
      etag,
    });
  }
  expect((await service.get('/tools/v0.1/servers?limit=2', { 'if-none-match': '"x"' })).status).toBe(200);
  expect((await service.get('/tools/v0.1/servers?limit=3', { 'if-none-match': etag })).status).toBe(200);
  expect((await service.get('/empty/v0.1/servers?limit=2', { 'if-none-match': etag })).status).toBe(200);
});

test('any entity tag is named by a star, where there is anything', async () => {
  const any = { 'if-none-match': '*' };
  for (const path of [
    'servers?limit=2',
    'servers/io.acme%2Falpha/versions',
    'servers/io.acme%2Falpha/versions/latest',
  ]) {
    expect(await service.get(`/tools/v0.1/${path}`, any)).toMatchObject({ status: 304, text: '' });
  }
  expect((await service.get('/tools/v0.1/servers/io.acme%2Fnobody/versions', any)).status).toBe(404);
});

test('a request with two Host headers is refused', async () => {
  const base = new URL(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(base.port), base.hostname);
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n');
  const answer = (await socket.toArray()).join('');
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*\{"error":"more than one Host header"\}$/s);
});

test('an entity tag changes with the content, and not without', async () => {
  const own = await openService();
  try {
    await own.fill([entry('io.acme/a', '1.0.0')], JANUARY);
    const before = await own.get('/tools/v0.1/servers');
    await own.fill([entry('io.acme/a', '1.0.0')], FEBRUARY);
    expect((await own.get('/tools/v0.1/servers')).headers.etag).toBe(before.headers.etag);
    await own.fill([entry('io.acme/a', '1.0.0', { description: 'new' })], FEBRUARY);
    const after = await own.get('/tools/v0.1/servers', { 'if-none-match': before.headers.etag ?? '' });
    expect(after.status).toBe(200);
    expect(after.headers.etag).not.toBe(before.headers.etag);
  } finally {
    await own.close();
  }
});

test('errors are never cached', async () => {
  for (const url of ['/nobody/v0.1/servers', '/tools/v0.1/servers?limit=0', '/tools/v0.1/servers/a%2Fb/versions']) {
    const { headers } = await service.get(url);
    expect({ cache: headers['cache-control'], etag: headers.etag }).toEqual({ cache: 'no-store', etag: undefined });
  }
});

test('browsers may read every answer, and ask first without a token', async () => {
  const preflight = await service.send({
    method: 'OPTIONS',
    url: '/tools/v0.1/servers',
    headers: {
      origin: 'vscode-file://vscode-app',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST',
    'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, X-Request-Id',
    'access-control-max-age': '86400',
  });
  for (const url of ['/tools/v0.1/servers', '/nobody/v0.1/servers', '/nothing']) {
    const { headers } = await service.get(url, { origin: 'https://app.example' });
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'ETag, Retry-After, WWW-Authenticate, X-Request-Id',
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  }
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const)('%s is not allowed anywhere', async (method) => {
  for (const url of ['/tools/v0.1/servers', '/tools/v0.1/servers/io.acme%2Falpha/versions/latest', '/health']) {
    const { status, headers, text } = await service.send({ method, url });
    expect({ status, allow: headers.allow, text }).toEqual({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
      text: '{"error":"method not allowed"}',
    });
  }
});

test('HEAD has the headers of GET and no body', async () => {
  const get = await service.get('/tools/v0.1/servers');
  const head = await service.send({ method: 'HEAD', url: '/tools/v0.1/servers' });
  expect(head).toMatchObject({ status: 200, text: '' });
  for (const name of ['etag', 'content-type', 'content-length', 'cache-control']) {
    expect(head.headers[name]).toBe(get.headers[name]);
  }
});

test('a large answer is compressed for those who take it, under the same tag', async () => {
  const own = await openService();
  try {
    await own.fill(
      Array.from({ length: 50 }, (_, index) => entry(`io.acme/server-${index}`, '1.0.0')),
      JANUARY,
    );
    const plain = await own.get('/tools/v0.1/servers');
    for (const coding of ['gzip', 'br']) {
      const packed = await own.get('/tools/v0.1/servers', { 'accept-encoding': coding });
      expect(packed.headers['content-encoding']).toBe(coding);
      expect(packed.headers.vary?.toLowerCase()).toContain('authorization');
      expect(packed.headers.vary?.toLowerCase()).toContain('accept-encoding');
      expect(packed.headers.etag).toBe(plain.headers.etag);
      expect(packed.json).toEqual(plain.json);
    }
    expect(plain.headers['content-encoding']).toBeUndefined();
  } finally {
    await own.close();
  }
});

test('the OpenAPI document is packed for those who take that', async () => {
  for (const path of ['/openapi.json', '/tools/openapi.yaml']) {
    const plain = await service.get(path);
    const packed = await service.get(path, { 'accept-encoding': 'br' });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Authorization, Accept-Encoding' });
    expect(packed.text).toBe(plain.text);
  }
});

test('a harmless request id is kept, another one is replaced', async () => {
  expect((await service.get('/health', { 'x-request-id': 'abc-1.2_3:4' })).headers['x-request-id']).toBe('abc-1.2_3:4');
  for (const given of ['a b', 'a"b', 'x'.repeat(129), '']) {
    const { headers } = await service.get('/health', { 'x-request-id': given });
    expect(headers['x-request-id']).toMatch(/^generated-\d+$/);
  }
});

test('every answer tells browsers to take it for what it is', async () => {
  for (const url of ['/health', '/tools/v0.1/servers', '/nothing', '/%zz']) {
    expect((await service.get(url)).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  }
});

test('health, readiness and version say what they know', async () => {
  expect((await service.get('/health')).json).toEqual({ status: 'healthy' });
  expect((await service.get('/readiness')).json).toEqual({ status: 'ready' });
  expect((await service.get('/version')).json).toEqual({
    version: '1.2.3',
    commit: 'abc',
    build_date: 'unknown',
    node_version: 'v24',
    platform: 'linux/amd64',
  });
});

test('the OpenAPI document can be recognised by registries that federate', async () => {
  const { json } = await service.get('/openapi.json');
  expect(json).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  expect(json.info.description).toContain('https://github.com/modelcontextprotocol/registry');
  expect(Object.keys(json.paths).sort()).toEqual([
    '/extension/v0/registries',
    '/extension/v0/registries/{registry}',
    '/extension/v0/registries/{registry}/sync',
    '/health',
    '/openapi.json',
    '/openapi.yaml',
    '/readiness',
    '/registry/{registry}/clients/{list}',
    '/registry/{registry}/openapi.json',
    '/registry/{registry}/openapi.yaml',
    '/registry/{registry}/v0.1/servers',
    '/registry/{registry}/v0.1/servers/{server}/versions',
    '/registry/{registry}/v0.1/servers/{server}/versions/{version}',
    '/registry/{registry}/v0.1/x/dev.skep/facets',
    '/version',
    '/{registry}/clients/{list}',
    '/{registry}/openapi.json',
    '/{registry}/openapi.yaml',
    '/{registry}/v0.1/servers',
    '/{registry}/v0.1/servers/{server}/versions',
    '/{registry}/v0.1/servers/{server}/versions/{version}',
    '/{registry}/v0.1/x/dev.skep/facets',
  ]);
  const { '/extension/v0/registries/{registry}/sync': sync, ...others } = json.paths;
  expect(JSON.stringify(others)).not.toMatch(/"40[13]"/);
  expect(Object.keys(sync.post.responses)).toEqual(expect.arrayContaining(['401', '403']));
  for (const url of ['/openapi.yaml', '/tools/openapi.yaml', '/registry/tools/openapi.yaml']) {
    const { status, headers, text } = await service.get(url);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/yaml; charset=utf-8' });
    expect(text).toMatch(/^openapi: 3\.1\.0\ninfo:\n {2}title: MCP registry\n {2}version: 1\.0\.0\n/);
    expect(text).not.toMatch(/: [&*]a[0-9]/);
  }
});

test('the OpenAPI document is made once in each format, however often it is asked for', async () => {
  const own = await openService();
  try {
    const { swagger } = own.app;
    let made = 0;
    const counting = (...given: []) => {
      made += 1;
      return swagger(...given);
    };
    Object.assign(own.app, { swagger: counting });
    for (const url of ['/openapi.yaml', '/tools/openapi.yaml', '/openapi.json', '/openapi.yaml', '/openapi.json']) {
      expect((await own.get(url)).status).toBe(200);
    }
    expect(made).toBe(2);
  } finally {
    await own.close();
  }
});

test('without the database the service says so, hides the cause, lives on, and recovers', async () => {
  const own = await openService();
  try {
    await own.fill([entry('io.acme/a', '1.0.0')], JANUARY);
    expect((await own.get('/tools/v0.1/servers')).status).toBe(200);
    await own.loseDatabase();
    for (const path of ['', '/io.acme%2Fa/versions', '/io.acme%2Fa/versions/latest']) {
      const { status, text, headers } = await own.get(`/tools/v0.1/servers${path}`, { 'x-request-id': 'lost-one' });
      expect({ status, text, retry: headers['retry-after'], cache: headers['cache-control'] }).toEqual({
        status: 503,
        text: '{"error":"the catalogue is temporarily unavailable"}',
        retry: '5',
        cache: 'no-store',
      });
    }
    const readiness = await own.get('/readiness');
    expect({ status: readiness.status, text: readiness.text }).toEqual({
      status: 503,
      text: '{"error":"not ready: the catalogue cannot be read"}',
    });
    expect((await own.get('/health')).status).toBe(200);
    expect((await own.get('/nobody/v0.1/servers')).status).toBe(404);
    const logged = own
      .logs()
      .split('\n')
      .filter((line) => line.includes('"reqId":"lost-one"'));
    expect(logged.join('\n')).toContain('database-unreachable');
    await own.restoreDatabase();
    expect((await own.get('/readiness')).status).toBe(200);
    expect((await own.get('/tools/v0.1/servers')).json.metadata.count).toBe(1);
  } finally {
    await own.close();
  }
});

test('a database that does not answer in time is given up, and asked again later', async () => {
  const own = await openService('auth: {mode: anonymous}', 'limits: {requestTimeout: 200ms}');
  try {
    await own.fill([entry('io.acme/a', '1.0.0')], JANUARY);
    const locked = await lock(own, 'catalogue_source');
    const { status, text, headers } = await own.get('/tools/v0.1/servers');
    expect({ status, text, retry: headers['retry-after'] }).toEqual({
      status: 503,
      text: '{"error":"the request was not answered in time"}',
      retry: '5',
    });
    await locked.end;
    expect((await own.get('/tools/v0.1/servers')).status).toBe(200);
  } finally {
    await own.close();
  }
});

test('a page that was made lately is not read from the database again', async () => {
  const own = await openService('auth: {mode: anonymous}', 'limits: {requestTimeout: 500ms}');
  try {
    await own.fill([entry('io.acme/a', '1.0.0')], JANUARY);
    // What is asked for once is not worth keeping.
    await own.get('/tools/v0.1/servers');
    const first = await own.get('/tools/v0.1/servers');
    const locked = await lock(own, 'catalogue_entry');
    expect(await own.get('/tools/v0.1/servers')).toMatchObject({ status: 200, text: first.text });
    expect(await own.get('/tools/v0.1/servers?limit=99')).toMatchObject({ status: 503 });
    await locked.end;
  } finally {
    await own.close();
  }
});

/** Holds everybody off the table for 1.5 s, from when this resolves on. */
async function lock(own: Service, table: string): Promise<{ readonly end: Promise<unknown> }> {
  const end = own.sql(`do $$ begin lock table ${table}; perform pg_sleep(1.5); end $$`);
  const held = `select 1 from pg_locks where relation = '${table}'::regclass and mode = 'AccessExclusiveLock'
    and granted and database = (select oid from pg_database where datname = current_database())`;
  await waitUntil(async () => (await own.sql(held)).length > 0);
  return { end };
}

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('waited in vain');
  }
}

test('a fault of the service is hidden, and logged under the request id', async () => {
  const own = await openService();
  try {
    await own.sql('drop table catalogue_entry');
    const { status, text } = await own.get('/tools/v0.1/servers', { 'x-request-id': 'fault-one' });
    expect({ status, text }).toEqual({ status: 500, text: '{"error":"internal server error"}' });
    const logged = own
      .logs()
      .split('\n')
      .filter((line) => line.includes('"reqId":"fault-one"'));
    expect(logged.join('\n')).toContain('catalogue_entry');
  } finally {
    await own.close();
  }
});

test('the log has one line per request, without query and without probes', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  await service.get('/tools/v0.1/servers?search=confidential', { 'x-request-id': 'log-one', traceparent });
  await service.get('/health', { 'x-request-id': 'log-two' });
  const lines = service
    .logs()
    .split('\n')
    .filter((line) => line.includes('log-one'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    method: 'GET',
    path: '/tools/v0.1/servers',
    status: 200,
    reqId: 'log-one',
    traceId,
  });
  expect(service.logs()).not.toContain('confidential');
  expect(service.logs()).not.toContain('log-two');
});

test('what one registry holds is not served by another', async () => {
  expect(KEY.source).toBe('tools');
  expect((await service.get('/empty/v0.1/servers/io.acme%2Falpha/versions/latest')).status).toBe(404);
});

test('the page can be left out', async () => {
  expect((await service.get('/', { accept: 'text/html' })).status).toBe(200);
  const without = await openService('auth: {mode: anonymous}', 'page: disabled');
  try {
    expect((await without.get('/', { accept: 'text/html' })).status).toBe(404);
    expect((await without.get('/health')).status).toBe(200);
  } finally {
    await without.close();
  }
});

test('the page is called what the registry is called, whatever is in that name', async () => {
  const named = await openService('auth: {mode: anonymous}', 'displayName: "<b>Ours</b> & %AUTH%"');
  try {
    const { text } = await named.get('/', { accept: 'text/html' });
    expect(text).toContain('<title>&#60;b&#62;Ours&#60;/b&#62; &#38; %AUTH%</title>');
    expect(text).not.toContain('<b>Ours');
  } finally {
    await named.close();
  }
});
