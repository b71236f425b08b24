// Any number of processes share the sync: each source is one process's at a time, and free again when that one dies.
// Every replica here is a store with connections of its own to one real PostgreSQL.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { Origin, RegistrySource } from '#contracts/registry/source.ts';
import type { Content, ReadRequest, SourceReader } from '#registry/catalogue/ports.ts';
import { syncRound } from '#registry/catalogue/round.ts';
import type { SyncOutcome } from '#registry/catalogue/sync.ts';
import { readAlone } from '#registry/catalogue/turns.ts';
import { Failure } from '#std/failure.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
/** Long beside what a busy machine takes to renew one. */
const CLAIM_MS = 1000;

let database: TestDatabase;
let replicas: Store[] = [];
let round = 0;
let registry = { namespace: 'team', registry: '' };

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  round += 1;
  registry = { namespace: 'team', registry: `registry-${round}` };
});
afterEach(async () => {
  await Promise.all(replicas.map((store) => store.close()));
  replicas = [];
});
afterAll(() => database?.drop());

function replica(claimMs = CLAIM_MS): Store {
  const store = createStore(openPool({ ...database.app, maxOpenConns: 4 }), { claimMs });
  replicas.push(store);
  return store;
}

const key = () => ({ ...registry, source: 'main' });

function declared(name = 'main'): RegistrySource {
  return {
    name,
    format: 'toolhive',
    origin: { type: 'configMap', name: 'catalogue', key: name },
    intervalMs: 60_000,
    filter: { names: { include: [], exclude: [] }, tags: { include: [], exclude: [] } },
  };
}

function contentOf(...names: string[]): Content {
  const servers = Object.fromEntries(names.map((name) => [name, { description: name, image: `${name}:1` }]));
  return { documents: [{ text: JSON.stringify({ servers }), location: 'registry.json' }], extent: 'whole' };
}

interface Round {
  readonly read: SourceReader['read'];
  readonly sources?: readonly RegistrySource[];
  readonly trigger?: string;
  readonly signal?: AbortSignal;
  readonly now?: number;
}

function run(
  writer: Store,
  { read, sources = [declared()], trigger, signal, now = T0 }: Round,
): Promise<readonly SyncOutcome[]> {
  return syncRound(
    { source: { read }, writer, now: () => now, inTurn: readAlone },
    { registry, sources, trigger, signal: signal ?? new AbortController().signal },
  );
}

/** A source that answers when a test lets it. */
function slowSource(): {
  read: SourceReader['read'];
  reading: Promise<ReadRequest<Origin>>;
  answer: (content: Content) => void;
} {
  const started = Promise.withResolvers<ReadRequest<Origin>>();
  const answered = Promise.withResolvers<Content>();
  return {
    read: (request) => {
      started.resolve(request);
      request.signal.addEventListener('abort', () => answered.reject(new Failure('outbound-aborted', 'given up')));
      return answered.promise;
    },
    reading: started.promise,
    answer: answered.resolve,
  };
}

async function served(store: Store): Promise<string[]> {
  const { entries } = await store.list(key(), { limit: 100, includeDeleted: false });
  return entries.map(({ document }) => JSON.parse(document).description);
}

test('of ten replicas that find twenty sources due at once each source is read by one, once', async () => {
  const sources = Array.from({ length: 20 }, (_, index) => declared(`source-${index}`));
  const reads: string[] = [];
  const read = async ({ key: { source } }: ReadRequest<Origin>) => {
    reads.push(source);
    return contentOf(source);
  };
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => run(replica(60_000), { read, sources })));
  expect(reads.toSorted()).toEqual(sources.map(({ name }) => name).toSorted());
  expect(outcomes.flat().map(({ result }) => result)).toEqual(sources.map(() => 'synced'));
  const states = await replica().states(registry);
  expect(
    Object.values(states).filter(({ phase, serverCount }) => phase === 'Complete' && serverCount === 1),
  ).toHaveLength(20);
});

test('a source that is being synced is left alone, shows as Syncing, and what was served is served', async () => {
  const [one, other] = [replica(), replica()];
  await run(one, { read: async () => contentOf('old') });
  const slow = slowSource();
  const running = run(one, { read: slow.read, trigger: 'now' });
  await slow.reading;
  expect((await other.states(registry)).main).toMatchObject({ phase: 'Syncing', serverCount: 1 });
  expect(await run(other, { read: () => Promise.reject(new Error('not to be read')), trigger: 'now' })).toEqual([]);
  expect(await served(other)).toEqual(['old']);
  slow.answer(contentOf('new'));
  expect(await running).toMatchObject([{ result: 'synced' }]);
  expect((await other.states(registry)).main).toMatchObject({ phase: 'Complete' });
  expect(await served(other)).toEqual(['new']);
});

test('a sync that takes longer than a claim lasts keeps it up', async () => {
  const [one, other] = [replica(), replica()];
  const slow = slowSource();
  const running = run(one, { read: slow.read });
  await slow.reading;
  const ends = performance.now() + 3 * CLAIM_MS;
  await vi.waitUntil(async () => {
    expect(await other.claim(key())).toBeUndefined();
    return performance.now() > ends;
  }, 10 * CLAIM_MS);
  slow.answer(contentOf('a'));
  expect(await running).toMatchObject([{ result: 'synced' }]);
});

test('the source of a process that died is free when its claim ran out, and is due as before', async () => {
  const [dying, other] = [replica(), replica()];
  const claim = await dying.claim(key());
  expect(claim).toBeDefined();
  // No process, no connections: no one keeps the claim up.
  await dying.close();
  expect(await other.claim(key())).toBeUndefined();
  const outcomes = await vi.waitUntil(async () => {
    const done = await run(other, { read: async () => contentOf('a') });
    return done.length > 0 && done;
  }, 20 * CLAIM_MS);
  expect(outcomes).toMatchObject([{ result: 'synced' }]);
});

test('who lost its claim stores nothing over what the other one stored, and is told to stop', async () => {
  const [slowOne, other] = [replica(60_000), replica(60_000)];
  const slow = slowSource();
  const running = run(slowOne, { read: slow.read });
  await slow.reading;
  await database.sql('update catalogue_source set claimed_until = now() where registry = $1', [registry.registry]);
  await run(other, { read: async () => contentOf('new') });
  slow.answer(contentOf('old'));
  expect(await running).toEqual([]);
  expect(await served(other)).toEqual(['new']);
});

test('a lost claim aborts the read', async () => {
  const one = replica();
  const slow = slowSource();
  const running = run(one, { read: slow.read });
  const { signal } = await slow.reading;
  await database.sql('update catalogue_source set claim = gen_random_uuid() where registry = $1', [registry.registry]);
  expect(await running).toEqual([]);
  expect(signal.aborted).toBe(true);
});

test('a process that ends gives its source back at once, and the attempt does not count', async () => {
  const [ending, other] = [replica(60_000), replica(60_000)];
  const stopping = new AbortController();
  const slow = slowSource();
  const running = run(ending, { read: slow.read, signal: stopping.signal });
  await slow.reading;
  stopping.abort();
  expect(await running).toEqual([]);
  const outcomes = await run(other, { read: async () => contentOf('a') });
  expect(outcomes).toMatchObject([{ result: 'synced', state: { attemptCount: 0 } }]);
});

test('a bug while reading is no failure of the source, and frees it', async () => {
  const [one, other] = [replica(60_000), replica(60_000)];
  await expect(run(one, { read: () => Promise.reject(new TypeError('a bug')) })).rejects.toThrow('a bug');
  expect(await run(other, { read: async () => contentOf('a') })).toMatchObject([{ result: 'synced' }]);
});

test('replicas whose clocks differ by some seconds do not sync in turns', async () => {
  const [ahead, behind] = [replica(60_000), replica(60_000)];
  const read = async () => contentOf('a');
  expect(await run(ahead, { read, now: T0 + 5_000 })).toHaveLength(1);
  expect(await run(behind, { read, now: T0 })).toEqual([]);
  expect(await run(ahead, { read, now: T0 + 6_000 })).toEqual([]);
});

describe('two processes that sync one source at the same time, in turns', () => {
  test('lose, mix up and duplicate nothing', async () => {
    const stores = [replica(60_000), replica(60_000)];
    let turn = 0;
    const read = async () => {
      turn += 1;
      return contentOf(...['a', 'b', 'c', 'd'].slice(0, 1 + (turn % 4)));
    };
    for (let again = 0; again < 10; again += 1) {
      const done = await Promise.all(stores.map((store) => run(store, { read, trigger: `trigger ${again}` })));
      expect(done.flat()).toHaveLength(1);
      const rows = await served(stores[0]!);
      expect(rows).toEqual(['a', 'b', 'c', 'd'].slice(0, 1 + (turn % 4)));
    }
  });
});

test('the manual trigger can be left for the process that syncs the source, once per value', async () => {
  const [reconciler, service] = [replica(), replica()];
  const read = async () => contentOf('a');
  await reconciler.leaveTrigger(key(), 'first');
  expect(await run(service, { read })).toMatchObject([{ state: { trigger: 'first' } }]);
  await reconciler.leaveTrigger(key(), 'first');
  expect(await run(service, { read })).toEqual([]);
  await reconciler.leaveTrigger(key(), 'second');
  expect(await run(service, { read })).toMatchObject([{ result: 'unchanged', state: { trigger: 'second' } }]);
});
