// The registry service as a host of the sync: what its configuration lists is read and served, by any number of
// replicas, from real files, HTTP servers and Git repositories into a real PostgreSQL.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseSettings, openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { CatalogueState } from '#contracts/catalogue-state.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import type { RegistrySource, ServiceOrigin } from '#contracts/registry/source.ts';
import { systemClock } from '#hosts/clock.ts';
import { watchCrashes } from '#hosts/registry/crashes.ts';
import { type Service, startService } from '#hosts/registry/serve.ts';
import { type RunningSync, startSync } from '#hosts/registry/sync.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import { eventually } from '../../harness/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startSshServer, withoutSshd } from '../../harness/git-inetd.ts';
import { type GitServer, startGitServer } from '../../harness/git-server.ts';
import { startUpstream, type Upstream } from './upstream-registry.ts';

let database: TestDatabase;
let git: GitServer;
let upstream: Upstream;
let dir: string;
let round = 0;
let logs: string[] = [];
const stores: Store[] = [];
const stopping: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  git = await startGitServer({ auth: { username: 'bot', password: 'secret' } });
});
beforeEach(async () => {
  round += 1;
  logs = [];
  dir = mkdtempSync(join(tmpdir(), 'skep-service-'));
  upstream = await startUpstream();
});
afterEach(async () => {
  for (const stop of stopping.splice(0).reverse()) await stop();
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});
afterAll(async () => {
  await git?.close();
  await database?.drop();
});

function registryFile(...names: string[]): string {
  const servers = Object.fromEntries(names.map((name) => [name, { description: name, image: `${name}:1` }]));
  return JSON.stringify({ version: '1.0.0', servers });
}

function write(name: string, text: string): string {
  const path = join(dir, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** `registries`: that section of the configuration, and whatever else. */
function configOf(registries: string, name = `service-${round}`): RegistryConfig {
  const text = `registryName: ${name}
namespace: team
listen: {host: 127.0.0.1, port: 0}
outbound: {allowPrivate: [127.0.0.0/8], allowFiles: true}
auth: {mode: anonymous}
registries:
${registries}`;
  const read = readRegistryConfig(text, 'registry.yaml');
  if ('problems' in read) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.config;
}

function openReplica(): Store {
  const store = createStore(openPool({ ...database.app, maxOpenConns: 4 }));
  stores.push(store);
  return store;
}

/** A replica of the service, without its listener. */
async function host(
  config: RegistryConfig,
  store = openReplica(),
  settings: DatabaseSettings = database.app,
): Promise<RunningSync> {
  const logger = pino({ level: 'debug' }, { write: (line) => logs.push(line) });
  const deps = { writer: store, database: settings, clock: systemClock, logger, random: () => 0, everyMs: 50 };
  const running = await startSync(config, deps);
  if (running === undefined) throw new Error('nothing to sync');
  stopping.push(() => running.stop());
  return running;
}

async function listening(config: RegistryConfig, store = openReplica()): Promise<Service> {
  const service = await startService(config, store, pino({ level: 'silent' }));
  stopping.push(() => service.stop());
  return service;
}

async function namesAt(url: string): Promise<string[]> {
  const answer = await fetch(url);
  const { servers = [] } = (await answer.json()) as { servers?: { server: { name: string } }[] };
  return servers.map(({ server }) => server.name.split('/')[1] ?? '');
}

function statesOf({ namespace, registryName }: RegistryConfig, store: Store): Promise<CatalogueState> {
  return store.states({ namespace, registry: registryName });
}

async function settled(
  config: RegistryConfig,
  store: Store,
  count = config.registries.length,
): Promise<CatalogueState> {
  return await eventually(
    () => statesOf(config, store),
    (states) =>
      Object.values(states).filter(({ lastAttempt, phase }) => lastAttempt !== undefined && phase !== 'Syncing')
        .length === count,
  );
}

test('files, URLs, Git repositories and other registries are served by what the configuration says of each', async () => {
  const repository = git.createRepository('fleet.git');
  repository.commit({ 'data/servers.json': registryFile('from-git') });
  upstream.servers = [{ name: 'io.acme/from-api' }];
  upstream.answer = (request, response) => {
    const isFile = request.url === '/registry.json';
    if (isFile) response.end(registryFile('from-url', 'unwanted'));
    return isFile;
  };
  const config = configOf(`
  - {name: file, file: {path: ${write('registry.json', registryFile('from-file'))}}}
  - {name: url, file: {url: "${upstream.url}/registry.json"}, filter: {names: {exclude: ['*/un*']}}}
  - name: git
    git: {repository: "${git.url}/fleet.git", branch: main, path: data/servers.json, auth: {username: bot, passwordFile: ${write('password', 'secret\n')}}}
  - {name: folder, git: {repository: "file://${repository.dir}", path: data/servers.json}}
  - {name: api, api: {endpoint: "${upstream.url}"}}
`);
  const store = openReplica();
  const service = await listening(config, store);
  await host(config, store);
  const states = await settled(config, store);
  expect(Object.entries(states).map(([name, { phase, message }]) => `${name}: ${phase}, ${message}`)).toEqual([
    'api: Complete, 1 server',
    'file: Complete, 1 server',
    'folder: Complete, 1 server',
    'git: Complete, 1 server',
    'url: Complete, 1 server',
  ]);
  for (const [name, server] of [
    ['file', 'from-file'],
    ['url', 'from-url'],
    ['git', 'from-git'],
    ['folder', 'from-git'],
    ['api', 'from-api'],
  ]) {
    expect(await namesAt(`${service.url}/${name}/v0.1/servers`), name).toEqual([server]);
  }
});

const withoutSsh = withoutSshd();
if (withoutSsh !== undefined) process.stderr.write(`${withoutSsh}\n`);

test.skipIf(withoutSsh !== undefined)(
  'a Git repository over ssh is read with a key, from a server that is known',
  async () => {
    const ssh = await startSshServer();
    try {
      ssh.createRepository('fleet.git').commit({ 'registry.json': registryFile('from-ssh') });
      const git = (key: string, known: string) =>
        `git: {repository: "${ssh.url}/fleet.git", auth: {sshKeyFile: ${key}, knownHostsFile: ${known}}}`;
      const config = configOf(`
  - {name: known, ${git(ssh.keyFile, ssh.knownHostsFile)}}
  - {name: stranger, ${git(ssh.createKey('stranger', false), ssh.knownHostsFile)}}
  - {name: unknown, ${git(ssh.keyFile, write('known_hosts', ''))}}
`);
      const store = openReplica();
      await host(config, store);
      const states = await settled(config, store);
      expect(
        Object.entries(states).map(([name, { phase, serverCount }]) => `${name}: ${phase}, ${serverCount}`),
      ).toEqual(['known: Complete, 1', 'stranger: Failed, 0', 'unknown: Failed, 0']);
    } finally {
      await ssh.close();
    }
  },
);

test('what is mounted into the service is ingested by it, and what the reconciler syncs is left to it', async () => {
  // As MCPRegistry renders it for a claim and for a ConfigMap.
  const config = configOf(`
  - {name: claim, format: toolhive, file: {path: ${write('claim/team/servers.json', registryFile('from-claim'))}}}
  - {name: others, format: toolhive, file: {path: ${write('others/registry.json', registryFile('not-ours'))}}, syncedBy: reconciler}
`);
  const store = openReplica();
  await store.replace(
    { namespace: 'team', registry: config.registryName, source: 'others' },
    [],
    {
      phase: 'Complete',
      message: 'of the reconciler',
      attemptCount: 0,
      serverCount: 0,
      rejectedCount: 0,
      lastAttempt: '2026-01-01T00:00:00.000Z',
    },
    () => '2026-01-01T00:00:00.000Z',
  );
  await host(config, store);
  expect(await settled(config, store)).toMatchObject({
    claim: { phase: 'Complete', serverCount: 1 },
    others: { message: 'of the reconciler' },
  });
});

test('a service that has nothing to sync syncs nothing', async () => {
  const config = configOf(
    '  - {name: a, file: {path: /nowhere.json}, syncedBy: reconciler}\n  - {name: b, managed: {}}',
  );
  const logger = pino({ level: 'silent' });
  const deps = { writer: openReplica(), database: database.app, clock: systemClock, logger, random: () => 0 };
  expect(await startSync(config, deps)).toBeUndefined();
});

test('one registry service feeds on another, page by page and then by what changed', async () => {
  const path = write('registry.json', registryFile(...Array.from({ length: 250 }, (_, index) => `server-${index}`)));
  const origin = configOf(`  - {name: all, syncPolicy: {interval: 100ms}, file: {path: ${path}}}`, `origin-${round}`);
  const originStore = openReplica();
  const { url } = await listening(origin, originStore);
  await host(origin, originStore);
  await settled(origin, originStore);
  const mirror = configOf(
    `  - {name: all, syncPolicy: {interval: 100ms}, api: {endpoint: "${url}/all"}}`,
    `mirror-${round}`,
  );
  const mirrorStore = openReplica();
  await host(mirror, mirrorStore);
  expect(await settled(mirror, mirrorStore)).toMatchObject({
    all: { phase: 'Complete', serverCount: 250, rejectedCount: 0 },
  });
  const key = (name: string) => ({ namespace: 'team', registry: `${name}-${round}`, source: 'all' });
  const documents = async (store: Store, name: string) =>
    (await store.list(key(name), { limit: 1000, includeDeleted: false })).entries.map(({ document }) => document);
  expect(await documents(mirrorStore, 'mirror')).toEqual(await documents(originStore, 'origin'));

  write('registry.json', registryFile('server-0', 'new'));
  await eventually(
    () => documents(mirrorStore, 'mirror'),
    (entries) => entries.length === 2,
  );
  expect(await documents(mirrorStore, 'mirror')).toEqual(await documents(originStore, 'origin'));
});

describe('what goes wrong with a file is one clear message, and what was served is served', () => {
  test.each<{ reason: string; spoil: (path: string) => unknown; says: string }>([
    { reason: 'gone', spoil: (path) => rmSync(path), says: 'PATH cannot be read: there is no such file' },
    { reason: 'a folder', spoil: (path) => [rmSync(path), mkdirSync(path)], says: 'PATH is not a regular file' },
    {
      reason: 'a pipe that nobody writes to',
      spoil: (path) => [rmSync(path), execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', path])],
      says: 'PATH is not a regular file',
    },
    {
      reason: 'too large',
      spoil: (path) => truncateSync(path, 65 * 1024 * 1024),
      says: 'PATH is larger than 67108864 bytes',
    },
    {
      reason: 'no text',
      spoil: (path) => writeFileSync(path, Buffer.from([0x7b, 0xc3, 0x28])),
      says: 'PATH: the file is not UTF-8 text: save it as UTF-8',
    },
    { reason: 'empty', spoil: (path) => writeFileSync(path, ''), says: 'PATH:1:1: not JSON: the text ends early' },
  ])('$reason', async ({ spoil, says }) => {
    const path = write('registry.json', registryFile('a'));
    const config = configOf(`  - {name: all, syncPolicy: {interval: 50ms}, file: {path: ${path}}}`);
    const store = openReplica();
    await host(config, store);
    await settled(config, store);
    spoil(path);
    const { all } = await eventually(
      () => statesOf(config, store),
      (states) => states.all?.phase === 'Failed',
    );
    expect(all?.message.replaceAll(path, 'PATH')).toBe(says);
    expect(all).toMatchObject({ serverCount: 1, attemptCount: 1 });
    await eventually(
      async () => logs.join(''),
      (text) => text.includes('sync failed'),
    );
  });
});

test('two replicas share the sources; when one stops in the midst the other goes on at once', async () => {
  const asked = Promise.withResolvers<void>();
  let silent = true;
  upstream.servers = [{ name: 'io.acme/a' }];
  upstream.answer = () => {
    asked.resolve();
    return silent;
  };
  const config = configOf(`  - {name: api, api: {endpoint: "${upstream.url}"}}`);
  const [one, other] = [openReplica(), openReplica()];
  const first = await host(config, one);
  await asked.promise;
  const second = await host(config, other);
  silent = false;
  await first.stop();
  expect(await settled(config, other)).toMatchObject({ api: { phase: 'Complete', serverCount: 1, attemptCount: 0 } });
  await second.stop();
});

test('the database may be away: it is told, and the sync goes on when it is back', async () => {
  const path = write('registry.json', registryFile('a'));
  const config = configOf(`  - {name: all, syncPolicy: {interval: 50ms}, file: {path: ${path}}}`);
  const away = createStore(openPool({ ...database.app, port: 1 }));
  stores.push(away);
  const store = openReplica();
  let isAway = true;
  const writer = new Proxy(store, { get: (_target, name) => Reflect.get(isAway ? away : store, name) });
  await host(config, writer);
  await eventually(
    async () => logs.join(''),
    (text) => text.includes('database-unreachable'),
  );
  isAway = false;
  expect(await settled(config, store)).toMatchObject({ all: { phase: 'Complete', serverCount: 1 } });
});

test('a thread that is killed is a failed attempt of its source, which keeps its content and is read again', async () => {
  const config = configOf(`  - {name: all, file: {path: ${write('registry.json', registryFile('a', 'b'))}}}`);
  const key = { namespace: 'team', registry: config.registryName, source: 'all' };
  // What the thread is given is read anew each time, and it cannot do anything with a number.
  const outbound: { caFile?: string; allowPrivate: unknown; allowFiles: boolean } = { ...config.outbound };
  const store = openReplica();
  await host({ ...config, outbound: outbound as RegistryConfig['outbound'] }, store);
  expect(await settled(config, store)).toMatchObject({ all: { phase: 'Complete', serverCount: 2 } });
  outbound.allowPrivate = 1;
  await store.requestSync(key);
  const { all } = await eventually(
    () => statesOf(config, store),
    (states) => states.all?.phase === 'Failed',
  );
  expect(all).toMatchObject({ attemptCount: 1, serverCount: 2 });
  expect(all?.message).toMatch(/^the thread that reads the sources ended without a result: ./);
  expect(logs.join('')).toContain('sync-thread-failed');
  expect((await store.list(key, { limit: 10, includeDeleted: false })).entries).toHaveLength(2);
  outbound.allowPrivate = config.outbound.allowPrivate;
  await store.requestSync(key);
  await eventually(
    () => statesOf(config, store),
    (states) => states.all?.phase === 'Complete',
  );
});

test('a source that ends its thread each time does not keep the others from being read', async () => {
  const config = configOf(`  - {name: bad, file: {url: "http://127.0.0.1:1/registry.json"}}
  - {name: good, file: {path: ${write('good.json', registryFile('b'))}}}`);
  // Nothing that a configuration can hold: the thread ends when it is to wait for so long.
  const origin = { type: 'url', url: 'http://127.0.0.1:1/registry.json', timeoutMs: {} };
  const registries = config.registries.map((each) => (each.name === 'bad' ? { ...each, origin } : each));
  const store = openReplica();
  await host({ ...config, registries } as unknown as RegistryConfig, store);
  const { bad } = await eventually(
    () => statesOf(config, store),
    (states) => states.bad?.phase === 'Failed',
  );
  expect(bad?.message).toMatch(/^the thread that reads the sources ended without a result: ./);
  await store.requestSync({ namespace: 'team', registry: config.registryName, source: 'bad' });
  await store.requestSync({ namespace: 'team', registry: config.registryName, source: 'good' });
  await eventually(
    () => statesOf(config, store),
    (states) => states.bad?.attemptCount === 2 && states.good?.phase === 'Complete',
  );
});

test('a thread that died with the claim of its source is recorded once that has run out', async () => {
  const config = configOf(`  - {name: all, file: {path: ${write('registry.json', registryFile('a'))}}}`);
  const registry = { namespace: 'team', registry: config.registryName };
  const [writer, source] = [openReplica(), config.registries[0] as RegistrySource<ServiceOrigin>];
  const logger = pino({ level: 'silent' });
  const crashes = watchCrashes({ writer, clock: systemClock, logger }, registry, new AbortController().signal);
  await writer.claim({ ...registry, source: 'all' });
  await crashes.attempt([source], () => Promise.reject(new Failure('sync-thread-failed', 'it has ended')));
  expect(await statesOf(config, writer)).toMatchObject({ all: { phase: 'Syncing' } });
  expect(await crashes.recordPending([source])).toEqual([]);
  expect(await statesOf(config, writer)).toMatchObject({ all: { phase: 'Syncing' } });
  await database.sql(`update catalogue_source set claimed_until = now() where registry = '${config.registryName}'`);
  expect(await crashes.recordPending([source])).toEqual([]);
  expect(await statesOf(config, writer)).toMatchObject({ all: { phase: 'Failed', message: 'it has ended' } });
  expect(await crashes.recordPending([source])).toEqual([source]);
  expect(crashes.groupsOf([source, { ...source, name: 'other' }])).toEqual([[{ ...source, name: 'other' }], [source]]);
});

test('no thread is started for a source that another replica has', async () => {
  const config = configOf(`  - {name: all, file: {path: ${write('registry.json', registryFile('a'))}}}`);
  const store = openReplica();
  const claim = await store.claim({ namespace: 'team', registry: config.registryName, source: 'all' });
  let looks = 0;
  const writer = new Proxy(store, {
    get(_target, name) {
      if (name === 'states') looks += 1;
      return Reflect.get(store, name);
    },
  });
  // Any thread says at once that it cannot reach the store.
  await host(config, writer, { ...database.app, port: 1 });
  await eventually(
    async () => looks,
    (count) => count > 5,
  );
  expect(logs).toEqual([]);
  await claim?.release();
  await eventually(
    async () => logs.join(''),
    (text) => text.includes('database-unreachable'),
  );
});

test('registries that the configuration no longer lists leave the store when the service starts', async () => {
  const path = write('registry.json', registryFile('a'));
  const line = (name: string) => `  - {name: ${name}, file: {path: ${path}}}\n`;
  const store = openReplica();
  const before = configOf(line('kept') + line('dropped'));
  const first = await host(before, store);
  await settled(before, store);
  await first.stop();
  const after = configOf(line('kept'));
  await host(after, store);
  await eventually(
    () => statesOf(after, store),
    (states) => Object.keys(states).join() === 'kept',
  );
});

test('the manual sync of the API reaches whoever syncs', async () => {
  const path = write('registry.json', registryFile('a'));
  const config = configOf(`  - {name: all, file: {path: ${path}}}`);
  const store = openReplica();
  const syncTokenFile = write('sync-token', 'for-syncs-only');
  const { url } = await listening({ ...config, auth: { mode: 'anonymous', syncTokenFile } }, store);
  await host(config, openReplica());
  await settled(config, store);
  write('registry.json', registryFile('a', 'b'));
  const headers = { authorization: 'Bearer for-syncs-only' };
  const answer = await fetch(`${url}/extension/v0/registries/all/sync`, { method: 'POST', headers });
  expect(answer.status).toBe(202);
  await eventually(
    () => statesOf(config, store),
    (states) => states.all?.serverCount === 2,
  );
});

test('what serves hardly works for a sync, however much there is to read', async () => {
  const names = Array.from({ length: 5000 }, (_, index) => `server-${index}`);
  const config = configOf(`  - {name: all, file: {path: ${write('registry.json', registryFile(...names))}}}`);
  const store = openReplica();
  const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];
  await host(config, store);
  expect(await settled(config, store)).toMatchObject({ all: { phase: 'Complete', serverCount: 5000 } });
  const [ownUsed, allUsed] = [process.threadCpuUsage(own), process.cpuUsage(all)].map(
    ({ user, system }) => user + system,
  );
  // Mostly the waiting of this test.
  expect(ownUsed).toBeLessThan((allUsed ?? 0) / 2);
});
