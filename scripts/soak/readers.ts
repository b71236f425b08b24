// People and programs that read the registry, so many requests a second whatever becomes of the ones before: pages, searches,
// cursors, versions, entity tags; and what is to be refused. Each knows what it must be answered with.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Random, seeded } from '../../test/harness/random.ts';
import type { Complaints } from './complaints.ts';
import type { Tokens } from './tokens.ts';

interface Ask {
  readonly sort: string;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Every other status is an error. */
  readonly statuses: readonly number[];
  /** Called with what a 200 says. */
  readonly learn?: (answer: { readonly etag: string; readonly body: string }) => void;
}

export interface ReadersOptions {
  readonly origin: string;
  readonly tokens: Tokens;
  readonly perSecond: number;
  readonly seed: number;
  readonly complaints: Complaints;
}

export interface Read {
  /** Milliseconds from sending each to its answer, ascending. */
  readonly times: readonly number[];
  /** Milliseconds that each was sent after it was due, ascending: how busy the machine was. */
  readonly late: readonly number[];
  readonly bySort: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** At the same time, each on a connection of its own. */
const READERS = 16;
const BASE = '/catalogue/v0.1';

/** As many as are due within the time are sent, however late: each with what is known then, as a token that is still good. */
export async function readFor(ms: number, options: ReadersOptions): Promise<Read> {
  const { origin, perSecond } = options;
  const pool = new Pool(origin, { connections: READERS, pipelining: 1 });
  const next = asksFrom(options);
  const [times, late]: [number[], number[]] = [[], []];
  const bySort = new Map<string, number>();
  const start = performance.now();
  const everyMs = 1000 / perSecond;
  let taken = 0;

  async function reader(): Promise<void> {
    for (let due = taken++ * everyMs; due < ms; due = taken++ * everyMs) {
      const waitMs = start + due - performance.now();
      if (waitMs > 0) await pause(waitMs);
      const sentAt = performance.now();
      const ask = next();
      await send(pool, ask, options.complaints);
      times.push(performance.now() - sentAt);
      late.push(sentAt - start - due);
      bySort.set(ask.sort, (bySort.get(ask.sort) ?? 0) + 1);
    }
  }

  await Promise.all(Array.from({ length: READERS }, reader));
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  return { times: sorted(times), late: sorted(late), bySort, seconds };
}

async function send(pool: Pool, ask: Ask, complaints: Complaints): Promise<void> {
  const { sort, path, method = 'GET', headers, statuses, learn } = ask;
  try {
    const { statusCode, headers: answered, body } = await pool.request({ method, path, headers });
    const text = Buffer.from(await body.arrayBuffer()).toString();
    if (!statuses.includes(statusCode)) {
      const said = `${statusCode}: ${text.slice(0, 200)}`;
      complaints.add('answers', `${method} ${path} (${sort}) was answered with ${said}`);
    } else if (statusCode === 200) {
      learn?.({ etag: String(answered.etag ?? ''), body: text });
    }
  } catch (error) {
    complaints.add('answers', `${method} ${path} (${sort}): ${String(error)}`);
  }
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

/** What readers remember of each other's answers. */
interface Memory {
  readonly random: Random;
  readonly tokens: Tokens;
  cursor: string | undefined;
  /** Of pages that were read, the newest few. */
  readonly tags: Map<string, string>;
  /** Names of servers, the newest few. */
  readonly names: Set<string>;
  made: number;
}

const REMEMBERED = 50;
const WORDS = ['log', 'wiki', 'mail', 'chart', 'a', 'e', 'zz', 'scan', 'file', 'no-such-thing', 'Ü', '%', "'; --"];
const TAGS = ['monitoring', 'utilities', 'everyday', 'no-such-tag'];

type Maker = (memory: Memory) => Omit<Ask, 'sort'>;

/** How many of a hundred. */
const SORTS: readonly (readonly [number, string, Maker])[] = [
  [18, 'page', page],
  [12, 'next page', nextPage],
  [14, 'unchanged page', unchanged],
  [14, 'search', search],
  [8, 'filter', filter],
  [8, 'versions', versions],
  [6, 'one version', version],
  [4, 'facets', (memory) => read(memory, `${BASE}/x/dev.skep/facets`)],
  [4, 'other registry', (memory) => read(memory, `/${memory.random.pick(['few', 'mounted'])}/v0.1/servers`)],
  [2, 'opaque token', (memory) => ({ ...read(memory, `${BASE}/servers?limit=1`), headers: memory.tokens.opaque() })],
  [2, 'registries', (memory) => read(memory, '/extension/v0/registries')],
  [1, 'without token', () => ({ path: '/health', headers: {}, statuses: [200] })],
  [1, 'ready', () => ({ path: '/readiness', headers: {}, statuses: [200] })],
  [1, 'description', (memory) => read(memory, '/openapi.json')],
  [1, 'refused', refused],
  [1, 'refused token', refusedToken],
  [
    1,
    'no such server',
    (memory) => ({ ...read(memory, `${BASE}/servers/${fresh(memory)}/versions`), statuses: [404] }),
  ],
  [1, 'no such registry', (memory) => ({ ...read(memory, '/nothing/v0.1/servers'), statuses: [404] })],
  [1, 'sync', sync],
];

function asksFrom({ tokens, seed }: ReadersOptions): () => Ask {
  const memory: Memory = {
    random: seeded(seed),
    tokens,
    cursor: undefined,
    tags: new Map(),
    names: new Set(),
    made: 0,
  };
  const deck = SORTS.flatMap(([share, sort, make]) => Array.from({ length: share }, () => ({ sort, make })));
  return () => {
    const { sort, make } = memory.random.pick(deck);
    return { sort, ...make(memory) };
  };
}

function read({ tokens, random }: Memory, path: string): Omit<Ask, 'sort'> {
  const packed: Record<string, string> = random.chance(0.3) ? { 'accept-encoding': random.pick(['gzip', 'br']) } : {};
  return { path, headers: { ...tokens.reading(), ...packed }, statuses: [200] };
}

/** What a list says is read by others, too. */
function list(memory: Memory, query: string): Omit<Ask, 'sort'> {
  const path = `${BASE}/servers?${query}`;
  return {
    path,
    headers: memory.tokens.reading(),
    statuses: [200],
    learn({ etag, body }) {
      const { servers, metadata }: Page = JSON.parse(body);
      memory.cursor = metadata.nextCursor;
      remember(memory.tags, path, etag);
      for (const { server } of servers.slice(0, 2)) memory.names.add(server.name);
      for (const name of memory.names) {
        if (memory.names.size <= REMEMBERED) return;
        memory.names.delete(name);
      }
    },
  };
}

interface Page {
  readonly servers: readonly { readonly server: { readonly name: string } }[];
  readonly metadata: { readonly nextCursor?: string };
}

function remember(tags: Map<string, string>, path: string, etag: string): void {
  tags.delete(path);
  tags.set(path, etag);
  for (const oldest of tags.keys()) {
    if (tags.size <= REMEMBERED) return;
    tags.delete(oldest);
  }
}

function page(memory: Memory): Omit<Ask, 'sort'> {
  return list(memory, `limit=${memory.random.pick([1, 10, 30, 100])}`);
}

function nextPage(memory: Memory): Omit<Ask, 'sort'> {
  const { cursor } = memory;
  return cursor === undefined ? page(memory) : list(memory, `limit=10&cursor=${encodeURIComponent(cursor)}`);
}

/** 304, or 200 where a commit came between. */
function unchanged(memory: Memory): Omit<Ask, 'sort'> {
  if (memory.tags.size === 0) return page(memory);
  const [path, etag] = memory.random.pick([...memory.tags]);
  return { path, headers: { ...memory.tokens.reading(), 'if-none-match': etag }, statuses: [200, 304] };
}

function search(memory: Memory): Omit<Ask, 'sort'> {
  const word = memory.random.chance(0.5) ? memory.random.pick(WORDS) : fresh(memory);
  return read(memory, `${BASE}/servers?search=${encodeURIComponent(word)}&limit=20`);
}

function filter(memory: Memory): Omit<Ask, 'sort'> {
  const { random } = memory;
  const since = '2026-01-01T00:00:00Z';
  const queries = [
    `x-tag=${random.pick(TAGS)}`,
    'x-tier=Official',
    `updated_since=${since}`,
    'version=latest',
    'x-status=active',
  ];
  return read(memory, `${BASE}/servers?${random.pick(queries)}`);
}

/** 404 where it was taken out meanwhile. */
function versions(memory: Memory): Omit<Ask, 'sort'> {
  return { ...read(memory, `${BASE}/servers/${known(memory)}/versions`), statuses: [200, 404] };
}

function version(memory: Memory): Omit<Ask, 'sort'> {
  return { ...read(memory, `${BASE}/servers/${known(memory)}/versions/latest`), statuses: [200, 404] };
}

function known(memory: Memory): string {
  return encodeURIComponent(memory.names.size === 0 ? 'no/name' : memory.random.pick([...memory.names]));
}

/** A name that no one has asked for before. */
function fresh(memory: Memory): string {
  memory.made += 1;
  return encodeURIComponent(`new/name-${memory.made}`);
}

function refused(memory: Memory): Omit<Ask, 'sort'> {
  const query = memory.random.pick(['limit=0', 'limit=many', 'cursor=no-cursor', 'updated_since=yesterday']);
  return { ...read(memory, `${BASE}/servers?${query}`), statuses: [400] };
}

function refusedToken({ tokens, random }: Memory): Omit<Ask, 'sort'> {
  return { path: `${BASE}/servers`, headers: random.pick([{}, tokens.expired(), tokens.forged()]), statuses: [401] };
}

/** Readers may not; who may write gets 202. */
function sync({ tokens, random }: Memory): Omit<Ask, 'sort'> {
  const path = `/extension/v0/registries/${random.pick(['catalogue', 'mounted'])}/sync`;
  if (random.chance(0.9)) return { path, method: 'POST', headers: tokens.reading(), statuses: [403] };
  return { path, method: 'POST', headers: tokens.writing(), statuses: [202] };
}
