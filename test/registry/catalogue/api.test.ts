// Tests the API of another registry as a source over real HTTP: the requests, and the catalogue afterwards in a real
// PostgreSQL. In one file, because the tests share the database, the API and the function that syncs an hour later.

import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import { type ApiLimits, readApi } from '#adapters/sources/api.ts';
import type { ApiOrigin, Filter, RegistrySource } from '#contracts/registry/source.ts';
import type { SourceReader } from '#registry/catalogue/ports.ts';
import { syncRound } from '#registry/catalogue/round.ts';
import type { SyncOutcome } from '#registry/catalogue/sync.ts';
import { readAlone } from '#registry/catalogue/turns.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { item, type Server, startUpstream, type Upstream } from './upstream-registry.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;
const EVERYTHING: Filter = { names: { include: [], exclude: [] }, tags: { include: [], exclude: [] } };

let database: TestDatabase;
let store: Store;
let outbound: Outbound;
let upstream: Upstream;
let now = T0;
let round = 0;
let registry = { namespace: 'team', registry: '' };

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore(openPool(database.app));
  outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test' });
});
beforeEach(async () => {
  upstream = await startUpstream();
  round += 1;
  registry = { namespace: 'team', registry: `registry-${round}` };
  now = T0;
});
afterEach(() => upstream.close());
afterAll(async () => {
  await outbound?.close();
  await store?.close();
  await database?.drop();
});

interface Options {
  readonly filter?: Filter;
  readonly trigger?: string;
  readonly endpoint?: string;
  readonly limits?: Partial<ApiLimits>;
}

/** The sync of an hour later. */
async function sync({
  filter = EVERYTHING,
  trigger,
  endpoint = upstream.url,
  limits = {},
}: Options = {}): Promise<SyncOutcome> {
  now += HOUR;
  const source: SourceReader<ApiOrigin> = { read: (request) => readApi({ outbound, now: () => now, limits }, request) };
  const declared: RegistrySource<ApiOrigin> = {
    name: 'main',
    format: 'upstream',
    origin: { type: 'api', endpoint },
    intervalMs: HOUR,
    filter,
  };
  const [outcome, ...more] = await syncRound(
    { source, writer: store, now: () => now, inTurn: readAlone },
    { registry, sources: [declared], trigger, signal: new AbortController().signal },
  );
  expect(more).toEqual([]);
  if (outcome === undefined) throw new Error('the source was not due');
  return outcome;
}

async function served(): Promise<string[]> {
  const { entries } = await store.list({ ...registry, source: 'main' }, { limit: 100, includeDeleted: true });
  return entries.map(({ name, version, status, isLatest }) => {
    const notes = [status === 'active' ? '' : ` ${status}`, isLatest ? ' latest' : ''];
    return `${name.split('/')[1]} ${version}${notes.join('')}`;
  });
}

const at = (minutes: number) => new Date(T0 + minutes * 60_000).toISOString();
const servers = (...names: string[]): Server[] => names.map((name) => ({ name: `io.acme/${name}` }));
const dated = (minutes: number, ...names: string[]) =>
  servers(...names).map((each) => ({ ...each, updatedAt: at(minutes) }));

describe('the first read', () => {
  test('is GET {endpoint}/v0/servers, and follows nextCursor to the end', async () => {
    upstream.servers = servers('a', 'b', 'c', 'd', 'e');
    expect(await sync()).toMatchObject({ result: 'synced', state: { serverCount: 5, phase: 'Complete' } });
    expect(upstream.requests()).toEqual([
      '/v0/servers',
      '/v0/servers?limit=100&cursor=2',
      '/v0/servers?limit=100&cursor=4',
    ]);
    expect(await served()).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `${name} 1.0.0 latest`));
  });

  test('goes to /v0.1/servers where there is no /v0/servers, and starts there from then on', async () => {
    upstream.options.path = '/v0.1/servers';
    upstream.servers = servers('a');
    expect(await sync()).toMatchObject({ result: 'synced' });
    expect(upstream.requests()).toEqual(['/v0/servers', '/v0.1/servers']);
    await sync();
    expect(upstream.requests()).toEqual(['/v0.1/servers if-none-match']);
  });

  test('keeps the path of an endpoint that has one, with or without a slash at its end', async () => {
    upstream.options.path = '/base/v0/servers';
    upstream.servers = servers('a');
    expect(await sync({ endpoint: `${upstream.url}/base/` })).toMatchObject({ result: 'synced' });
  });

  test('reads what the answer is, whatever format is declared', async () => {
    const answer = { servers: { clock: { description: 'Tells the time', image: 'clock:1' } } };
    upstream.answer = answering((response) => response.end(JSON.stringify(answer)));
    expect(await sync()).toMatchObject({ result: 'synced', problems: [] });
    expect(await served()).toEqual(['clock 1.0.0 latest']);
    upstream.answer = answering((response) =>
      response.end(JSON.stringify({ data: { servers: [{ name: 'io.acme/x', version: '1.0.0', description: 'x' }] } })),
    );
    await sync();
    expect(await served()).toEqual(['x 1.0.0 latest', 'clock 1.0.0 deleted latest']);
  });

  test('keeps what the upstream says is the latest, deprecated and deleted', async () => {
    const [a] = dated(0, 'a');
    upstream.servers = [
      { ...a!, version: '2.0.0', isLatest: false, status: 'deprecated' },
      { ...a!, version: '1.0.0', isLatest: true },
      { ...a!, version: '3.0.0', isLatest: false, status: 'deleted' },
    ];
    await sync();
    expect(await served()).toEqual(['a 1.0.0 latest', 'a 2.0.0 deprecated']);
  });

  test('takes an entry that moved to another page meanwhile once', async () => {
    upstream.answer = (request, response) => {
      const second = request.url?.includes('cursor') === true;
      const page = second ? servers('b', 'c') : servers('a', 'b');
      response.end(JSON.stringify({ servers: page.map(item), metadata: second ? {} : { nextCursor: 'x' } }));
      return true;
    };
    expect(await sync()).toMatchObject({ problems: [], state: { serverCount: 3, rejectedCount: 0 } });
  });
});

describe('a later read', () => {
  test('of a list in one answer is conditional, and a 304 writes nothing', async () => {
    upstream.servers = servers('a');
    const first = await sync();
    upstream.requests();
    const outcome = await sync();
    expect(upstream.requests()).toEqual(['/v0/servers if-none-match']);
    expect(outcome).toMatchObject({ result: 'unchanged', state: { serverCount: 1, message: '1 server' } });
    expect(outcome.state.lastSyncHash).toBe(first.state.lastSyncHash);
    upstream.servers = servers('a', 'b');
    expect(await sync()).toMatchObject({ result: 'synced', written: { created: 1, unchanged: 1 } });
  });

  test('asks for what changed where entries tell when, and leaves the others', async () => {
    upstream.servers = dated(0, 'a', 'b', 'c', 'd', 'e');
    await sync();
    upstream.requests();
    const [d] = dated(30, 'd');
    upstream.servers = [
      ...dated(0, 'a', 'b', 'c', 'e').map((each) =>
        each.name === 'io.acme/c' ? ({ ...each, status: 'deleted', updatedAt: at(20) } as const) : each,
      ),
      { ...d!, description: 'new words' },
      ...dated(40, 'f'),
    ];
    const outcome = await sync();
    // A minute before the newest time seen: what was being written then may carry an earlier one.
    expect(upstream.requests()).toEqual([
      `/v0/servers?updated_since=${encodeURIComponent(at(-1))}`,
      ...pagesSince(at(-1)),
    ]);
    expect(outcome).toMatchObject({ result: 'synced', state: { serverCount: 5 } });
    expect(outcome.written).toEqual({ created: 1, updated: 2, removed: 0, unchanged: 3, held: 0 });
    expect(await served()).toEqual(
      [
        'a 1.0.0 latest',
        'b 1.0.0 latest',
        'd 1.0.0 latest',
        'e 1.0.0 latest',
        'f 1.0.0 latest',
        'c 1.0.0 deleted latest',
      ].sort(),
    );
  });

  test('that finds no change writes no row, and asks from the newest time on', async () => {
    upstream.servers = [...dated(0, 'a', 'b'), ...dated(10, 'c')];
    await sync();
    const rows = () =>
      database.sql(
        `select e.xmin, e.* from catalogue_entry e join catalogue_source s on s.id = e.source_id
         where s.registry = $1 order by name`,
        [registry.registry],
      );
    const before = await rows();
    upstream.requests();
    expect(await sync()).toMatchObject({ result: 'unchanged', state: { serverCount: 3, phase: 'Complete' } });
    expect(upstream.requests()).toEqual([`/v0/servers?updated_since=${encodeURIComponent(at(9))}`]);
    expect(await rows()).toEqual(before);
    expect(before).toHaveLength(3);
  });

  test('takes everything after a day, after an edit, and when it was triggered', async () => {
    upstream.servers = dated(0, 'a', 'b', 'c');
    await sync();
    upstream.servers = dated(0, 'a', 'b');
    await sync();
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 latest', 'c 1.0.0 latest']);
    upstream.requests();
    await sync({ trigger: 'now' });
    expect(upstream.requests()).toEqual(['/v0/servers']);
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 latest', 'c 1.0.0 deleted latest']);
    const filter = { ...EVERYTHING, names: { include: ['*/a'], exclude: [] } };
    await sync({ filter, trigger: 'now' });
    expect(upstream.requests()).toEqual(['/v0/servers']);
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 deleted latest', 'c 1.0.0 deleted latest']);
    now += 24 * HOUR;
    await sync({ filter, trigger: 'now' });
    expect(upstream.requests()).toEqual(['/v0/servers']);
  });

  test('takes away a version that the filter now leaves out, and no other of its name', async () => {
    const filter = { ...EVERYTHING, tags: { include: [], exclude: ['beta'] } };
    const [a] = dated(0, 'a');
    const versions = (more: Partial<Server>) => [a!, { ...a!, version: '2.0.0', ...more }];
    upstream.servers = versions({});
    await sync({ filter });
    upstream.servers = versions({ tags: ['beta'], updatedAt: at(30) });
    expect(await sync({ filter })).toMatchObject({ written: { removed: 1 }, state: { serverCount: 1 } });
    expect(await served()).toEqual(['a 1.0.0 latest', 'a 2.0.0 deleted']);
  });

  test('of a registry that overlooks updated_since takes its answer for everything', async () => {
    upstream.servers = dated(0, 'a', 'b');
    await sync();
    upstream.options.knowsSince = false;
    upstream.servers = [...dated(-90, 'a'), ...dated(30, 'c')];
    await sync();
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 deleted latest', 'c 1.0.0 latest'].sort());
  });

  test('of a registry that refuses updated_since asks for everything', async () => {
    upstream.servers = dated(0, 'a');
    await sync();
    upstream.answer = (request, response) => {
      const refused = request.url?.includes('updated_since') === true;
      if (refused) response.writeHead(400).end('{"error":"unknown parameter"}');
      return refused;
    };
    upstream.servers = dated(0, 'b');
    expect(await sync()).toMatchObject({ result: 'synced' });
    expect(await served()).toEqual(['a 1.0.0 deleted latest', 'b 1.0.0 latest']);
  });

  test('of another endpoint brings no entity tag of the one before, not even after a failure', async () => {
    upstream.servers = servers('a');
    await sync();
    const other = await startUpstream();
    other.servers = servers('a');
    other.answer = answering((response) => response.writeHead(503).end());
    expect(await sync({ endpoint: other.url })).toMatchObject({ result: 'failed' });
    other.answer = undefined;
    expect(await sync({ endpoint: other.url })).toMatchObject({ result: 'synced' });
    expect(other.requests().join()).not.toContain('if-none-match');
    await other.close();
  });

  test('with an entry that is broken now keeps what was served of it, and tells it', async () => {
    upstream.servers = dated(0, 'a', 'b');
    await sync();
    upstream.answer = (_request, response) => {
      const broken = { server: { name: 'io.acme/a', version: '1.0.0' }, _meta: {} };
      response.end(JSON.stringify({ servers: [broken, ...dated(30, 'c').map(item)], metadata: {} }));
      return true;
    };
    const outcome = await sync();
    expect(outcome).toMatchObject({ result: 'synced', state: { serverCount: 3, rejectedCount: 1 } });
    expect(outcome.problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'warning registry-entry-invalid',
    ]);
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 latest', 'c 1.0.0 latest']);
  });
});

function answering(answer: (response: ServerResponse) => unknown): NonNullable<Upstream['answer']> {
  return (_request, response) => {
    answer(response);
    return true;
  };
}

function pagesSince(since: string): string[] {
  return [2, 4].map((cursor) => `/v0/servers?updated_since=${encodeURIComponent(since)}&limit=100&cursor=${cursor}`);
}

describe('what goes wrong is one clear failure, counts as an attempt, and loses nothing', () => {
  const rows: readonly {
    reason: string;
    says: string;
    limits?: Partial<ApiLimits>;
    answer: NonNullable<Upstream['answer']>;
  }[] = [
    {
      reason: 'no such API',
      says: 'URL/v0/servers and URL/v0.1/servers: there is nothing (404)',
      answer: answering((response) => response.writeHead(404).end()),
    },
    {
      reason: 'a registry that asks for a token',
      says: 'URL/v0/servers: the server asks for credentials (401)',
      answer: answering((response) => response.writeHead(401).end()),
    },
    {
      reason: 'a registry that is overloaded',
      says: 'URL/v0/servers: the server answered with status 503',
      answer: answering((response) => response.writeHead(503).end()),
    },
    {
      reason: 'a page of HTML',
      says: 'URL/v0/servers:1:1: not JSON: expected a value',
      answer: answering((response) => response.end('<html>Sign in</html>')),
    },
    {
      reason: 'JSON that is no list',
      says: 'URL/v0/servers:1:1: a registry file has a list "data.servers" or "servers"',
      answer: answering((response) => response.end('{"status":"ok"}')),
    },
    {
      reason: 'bytes that are no text',
      says: 'URL/v0/servers: the file is not UTF-8 text: save it as UTF-8',
      answer: answering((response) => response.end(Buffer.from([0x7b, 0xff, 0xfe]))),
    },
    {
      reason: 'pages that lead in a circle',
      says: 'URL/v0/servers?…: page 2 leads back to an earlier one',
      answer: answering((response) =>
        response.end(JSON.stringify({ servers: servers('a').map(item), metadata: { nextCursor: 'again' } })),
      ),
    },
    {
      reason: 'pages without end',
      says: 'URL/v0/servers?…: the list goes on after 268435456 bytes or 7 pages',
      limits: { pages: 7 },
      answer: answering((response) =>
        response.end(JSON.stringify({ servers: [], metadata: { nextCursor: String(Math.random()) } })),
      ),
    },
    {
      reason: 'pages that together are too large',
      says: 'URL/v0/servers?…: the list goes on after 300 bytes or 2000 pages',
      limits: { bytes: 300 },
      answer: answering((response) =>
        response.end(
          JSON.stringify({ servers: servers('a').map(item), metadata: { nextCursor: String(Math.random()) } }),
        ),
      ),
    },
    {
      reason: 'an answer of 100 MB',
      says: 'URL/v0/servers: the answer is larger than 67108864 bytes',
      answer: (_request, response) => {
        const chunk = Buffer.alloc(1024 * 1024, 0x20);
        let left = 100;
        function more(): void {
          while (left > 0) {
            left -= 1;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end();
        }
        more();
        return true;
      },
    },
    {
      reason: 'an answer that trickles',
      says: 'URL/v0/servers: no answer within 300 ms',
      limits: { pageTimeoutMs: 300 },
      answer: (_request, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(timer));
        return true;
      },
    },
    {
      reason: 'pages that each arrive in time, but never end',
      says: 'URL/: not all pages arrived within 400 ms',
      limits: { timeoutMs: 400 },
      answer: (_request, response) => {
        const body = JSON.stringify({ servers: [], metadata: { nextCursor: String(Math.random()) } });
        setTimeout(() => response.end(body), 50);
        return true;
      },
    },
    {
      reason: 'a redirect to a private address',
      says: 'http://10.0.0.1/v0/servers: 10.0.0.1 is a private address; outbound.allowPrivate can name its range',
      answer: answering((response) => response.writeHead(302, { location: 'http://10.0.0.1/v0/servers' }).end()),
    },
    {
      reason: 'a connection that is cut half-way',
      says: 'URL/v0/servers: connection lost',
      answer: (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"servers":', () => response.destroy());
        return true;
      },
    },
  ];

  test.each(rows)('$reason', async ({ says, answer, limits = {} }) => {
    upstream.servers = servers('a', 'b');
    const before = await sync();
    upstream.answer = answer;
    const failed = await sync({ limits });
    expect(failed.state.message.replaceAll(upstream.url, 'URL')).toBe(says);
    expect(failed).toMatchObject({ result: 'failed', state: { phase: 'Failed', attemptCount: 1, serverCount: 2 } });
    expect(failed.state.lastSyncHash).toBe(before.state.lastSyncHash);
    expect(await served()).toEqual(['a 1.0.0 latest', 'b 1.0.0 latest']);
    upstream.answer = undefined;
    expect(await sync()).toMatchObject({ state: { phase: 'Complete', attemptCount: 0, message: '2 servers' } });
  });

  test('a name whose address turns private between two syncs', async () => {
    upstream.servers = servers('a');
    const { port } = new URL(upstream.url);
    let address = '127.0.0.1';
    const own = createOutbound({
      allowPrivate: ['127.0.0.1/32'],
      version: 'test',
      resolve: async () => [{ address, family: 4 }],
    });
    const before = outbound;
    outbound = own;
    try {
      const endpoint = `http://registry.example:${port}`;
      expect(await sync({ endpoint })).toMatchObject({ result: 'synced' });
      address = '127.0.0.2';
      // Connections that are open may still be used: they lead where they always led.
      await own.close();
      expect(await sync({ endpoint })).toMatchObject({
        result: 'failed',
        state: {
          message: expect.stringContaining('registry.example resolves to 127.0.0.2, which is a loopback address'),
        },
      });
    } finally {
      outbound = before;
    }
  });
});
