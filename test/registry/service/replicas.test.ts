// Tests two replicas of `skep serve` under load while one is killed and PostgreSQL restarts. In one file, because it is
// one story: the clients, the syncs and the database server exist only for it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startServer } from '#adapters/postgres/embedded/server.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { RegistrySource } from '#contracts/registry/source.ts';
import { syncRound } from '#registry/catalogue/round.ts';
import { readAlone } from '#registry/catalogue/turns.ts';
import { Failure } from '#std/failure.ts';
import { type Cluster, createCluster } from '../../harness/postgres-server.ts';
import { type Running, startSkep } from '../../harness/skep.ts';
import { KEY } from './service.ts';

const ENTRIES = 90;
const CLIENTS = 4;
const RECOVERY_MS = 5_000;

let cluster: Cluster;
let server: PostgresServer;
let folder: string;
let store: Store;
const replicas: Running[] = [];

const USER = { user: 'postgres', database: 'postgres', sslMode: 'disable' } as const;

beforeAll(async () => {
  cluster = await createCluster();
  server = await startServer(cluster.options);
  folder = await mkdtemp(join(tmpdir(), 'skep-replicas-'));
  const address = { host: server.host, port: server.port, ...USER };
  await migrate(address, { appUser: USER.user });
  // The claim of a sync that the restart cuts off is free again before the service has to have recovered.
  store = createStore(openPool(address), { claimMs: 2_000 });
});

afterAll(async () => {
  for (const replica of replicas) replica.kill('SIGKILL');
  await Promise.all(replicas.map(({ finished }) => finished));
  await store.close();
  await server.stop();
  cluster.remove();
  await rm(folder, { recursive: true });
});

/** The URL of another replica. */
async function startReplica(): Promise<{ readonly url: string; readonly process: Running }> {
  const file = join(folder, 'registry.yaml');
  const config = {
    registryName: KEY.registry,
    namespace: KEY.namespace,
    listen: { host: '127.0.0.1', port: 0 },
    registries: [{ name: KEY.source, managed: {} }],
    database: { host: server.host, port: server.port, ...USER },
    auth: { mode: 'anonymous' },
  };
  await writeFile(file, JSON.stringify(config));
  const process = startSkep(['serve', '-c', file], { cwd: folder });
  replicas.push(process);
  const output = await process.printed('serving http://');
  return { url: /serving (http:\S+)/.exec(output)?.[1] ?? '', process };
}

/** Every entry says which read it is from. */
function registryFile(generation: number): string {
  const servers = Array.from({ length: ENTRIES }, (_, index) => ({
    name: `io.acme/server-${String(index).padStart(2, '0')}`,
    description: `generation ${generation}`,
    version: '1.0.0',
  }));
  return JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } });
}

interface Seen {
  /** How often each outcome was met: a status, or `unreachable`. */
  readonly outcomes: Map<string, number>;
  /** What must never be, as it was met. */
  readonly wrong: string[];
  /** Monotonic time of the last answer with 200 or 304. */
  lastGoodAt: number;
  generation: number;
}

interface Load {
  readonly seen: Seen;
  stop(): Promise<void>;
}

/** Clients that ask the replicas in turn, each with the tag of the page it has. */
function startLoad(urls: () => readonly string[]): Load {
  const seen: Seen = { outcomes: new Map(), wrong: [], lastGoodAt: 0, generation: 0 };
  let stopped = false;
  async function client(number: number): Promise<void> {
    let tag = '';
    let generation = 0;
    for (let turn = number; !stopped; turn += 1) {
      const all = urls();
      const url = `${all[turn % all.length]}/tools/v0.1/servers?limit=100`;
      const answer = await ask(url, tag);
      count(seen, answer.outcome);
      if (answer.wrong !== undefined) seen.wrong.push(answer.wrong);
      if (answer.outcome === '200' || answer.outcome === '304') seen.lastGoodAt = performance.now();
      if (answer.generation === undefined) continue;
      if (answer.generation < generation) seen.wrong.push(`generation ${answer.generation} after ${generation}`);
      ({ tag, generation } = { tag: answer.tag, generation: answer.generation });
      seen.generation = Math.max(seen.generation, generation);
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  return {
    seen,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

function count({ outcomes }: Seen, outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

interface Answer {
  readonly outcome: string;
  readonly tag: string;
  readonly generation?: number;
  readonly wrong?: string;
}

async function ask(url: string, tag: string): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers: tag === '' ? {} : { 'if-none-match': tag },
      signal: AbortSignal.timeout(15_000),
    });
    text = await response.text();
  } catch (error) {
    const hung = error instanceof Error && error.name === 'TimeoutError';
    return { outcome: 'unreachable', tag, ...(hung ? { wrong: 'a request hung' } : {}) };
  }
  const answer = { outcome: String(response.status), tag };
  if (response.status === 304) return answer;
  if (response.status === 503) {
    const clean = typeof JSON.parse(text).error === 'string' && response.headers.get('retry-after') !== null;
    return clean ? answer : { ...answer, wrong: text };
  }
  if (response.status !== 200) return { ...answer, wrong: `${response.status} ${text}` };
  const names: string[] = [];
  const generations = new Set<number>();
  for (const { server: document } of JSON.parse(text).servers) {
    names.push(document.name);
    generations.add(Number(document.description.replace('generation ', '')));
  }
  const [generation = 0] = generations;
  const whole = names.length === ENTRIES && new Set(names).size === ENTRIES && generations.size === 1;
  const wrong = whole ? {} : { wrong: `${names.length} entries of generations ${[...generations]}` };
  return { outcome: '200', tag: response.headers.get('etag') ?? '', generation, ...wrong };
}

async function until(what: string, limitMs: number, isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Syncs one generation after another, as the reconciler does; what fails while the database is away is tried again. */
function startSyncing() {
  let stopped = false;
  let read = 0;
  let synced = 0;
  const ports = {
    source: {
      read: async () => {
        read += 1;
        return { documents: [{ text: registryFile(read), location: 'registry.json' }], extent: 'whole' as const };
      },
    },
    writer: store,
    // Every look finds the source due.
    now: () => Date.now() + read * 1000,
    inTurn: readAlone,
  };
  const none = { include: [], exclude: [] };
  const source: RegistrySource = {
    name: KEY.source,
    format: 'upstream',
    origin: { type: 'configMap', name: 'a', key: 'registry.json' },
    intervalMs: 1,
    filter: { names: none, tags: none },
  };
  const request = { registry: KEY, sources: [source], trigger: undefined, signal: new AbortController().signal };
  async function run(): Promise<void> {
    while (!stopped) {
      try {
        const [outcome] = await syncRound(ports, request);
        if (outcome?.result === 'synced') synced = read;
      } catch (error) {
        if (!(error instanceof Failure) || !error.retryable) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const running = run();
  return {
    /** The last generation that was stored. */
    async stop(): Promise<number> {
      stopped = true;
      await running;
      return synced;
    },
  };
}

test('one replica is killed and the database restarts: clean 503 in the gap, soon over, nothing lost or doubled', async () => {
  const syncing = startSyncing();
  const first = await startReplica();
  const second = await startReplica();
  let urls = [first.url, second.url];
  const load = startLoad(() => urls);
  const { seen } = load;
  const met = (outcome: string) => seen.outcomes.get(outcome) ?? 0;
  await until('both answer', 30_000, () => met('200') > 20 && seen.generation > 3);
  expect(met('503') + met('unreachable')).toBe(0);

  first.process.kill('SIGKILL');
  await first.process.finished;
  await until('the dead one is noticed', 10_000, () => met('unreachable') > 0);
  urls = [second.url];
  const unreachable = met('unreachable');
  await until('the other one goes on', 10_000, () => performance.now() - seen.lastGoodAt < 100);

  const { port } = server;
  await server.stop();
  await until('the gap is noticed', 10_000, () => met('503') > 5);
  server = await startServer({ ...cluster.options, port });
  const back = performance.now();
  await until('the service recovers', RECOVERY_MS, () => seen.lastGoodAt > back);
  const before = seen.generation;
  await until('syncs arrive again', RECOVERY_MS, () => seen.generation > before);

  const third = await startReplica();
  urls = [second.url, third.url];
  const good = met('200');
  await until('a new replica joins', 30_000, () => met('200') > good + 20);
  const last = await syncing.stop();
  await until('the last sync is served', 10_000, () => seen.generation === last);
  await load.stop();

  expect(seen.wrong).toEqual([]);
  // Who asked the dead one at that moment, and no one later.
  expect(met('unreachable') - unreachable).toBeLessThanOrEqual(CLIENTS);
  expect(
    [...seen.outcomes.keys()].filter((outcome) => !['200', '304', '503', 'unreachable'].includes(outcome)),
  ).toEqual([]);
  const answers = await Promise.all([second, third].map(({ url }) => fetch(`${url}/tools/v0.1/servers?limit=100`)));
  const [one, other] = await Promise.all(answers.map(async (each) => [each.headers.get('etag'), await each.text()]));
  expect(one).toEqual(other);
});
