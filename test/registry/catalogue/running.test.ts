// What reconcilers leave in the store of what they run: each its own, nothing where nothing changed, all of it gone with the
// servers. Over a real PostgreSQL.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { RunningServer } from '#contracts/running-servers.ts';
import type { Runner } from '#registry/catalogue/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { entryOf } from '../page/fixtures.ts';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  store = createStore(openPool(database.app));
});
afterEach(async () => {
  for (const runner of [PROD, OTHER]) await store.recordRunning(runner, []);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const PROD: Runner = { instance: 'prod', homeNamespace: 'skep' };
const OTHER: Runner = { instance: 'prod', homeNamespace: 'elsewhere' };
const TEAM = { namespace: 'team', registry: 'catalogue' };

function server(name: string, more: Partial<RunningServer> = {}): RunningServer {
  const namespace = more.namespace ?? 'team';
  const url = `http://mcp-${name}-proxy.${namespace}.svc.cluster.local:8080/mcp`;
  return { namespace, name, url, transport: 'streamable-http', ready: true, auth: 'none', ...more };
}

async function names(registry = TEAM): Promise<readonly string[]> {
  return (await store.running(registry)).servers.map(({ name, ready }) => `${name}${ready ? '' : ' not ready'}`);
}

/** Which transaction has written each row last. */
async function writers(): Promise<readonly object[]> {
  return database.sql('select namespace, home, xmin::text from catalogue_running order by namespace, home');
}

test('a registry finds what runs in its namespace, whoever runs it, and nothing of another namespace', async () => {
  await store.recordRunning(PROD, [
    server('clock'),
    server('mail', { ready: false }),
    server('x', { namespace: 'ops' }),
  ]);
  await store.recordRunning(OTHER, [server('notes')]);
  expect(await names()).toEqual(['clock', 'mail not ready', 'notes']);
  expect(await names({ namespace: 'ops', registry: 'catalogue' })).toEqual(['x']);
  expect(await names({ namespace: 'nobody', registry: 'catalogue' })).toEqual([]);
});

test('what one reconciler writes replaces what it wrote before, and nothing of another one', async () => {
  await store.recordRunning(PROD, [server('clock'), server('x', { namespace: 'ops' })]);
  await store.recordRunning(OTHER, [server('notes')]);
  await store.recordRunning(PROD, [server('mail')]);
  expect(await names()).toEqual(['mail', 'notes']);
  expect(await names({ namespace: 'ops', registry: 'catalogue' })).toEqual([]);
  await store.recordRunning(PROD, []);
  expect(await names()).toEqual(['notes']);
});

test('for one namespace the others stay', async () => {
  await store.recordRunning(PROD, [server('clock'), server('x', { namespace: 'ops' })]);
  await store.recordRunning(PROD, [], 'team');
  expect(await names()).toEqual([]);
  expect(await names({ namespace: 'ops', registry: 'catalogue' })).toEqual(['x']);
});

test('nothing is written where nothing changed', async () => {
  const both = [server('clock'), server('x', { namespace: 'ops' })];
  await store.recordRunning(PROD, both);
  const before = await writers();
  expect(before).toHaveLength(2);
  await store.recordRunning(PROD, both);
  expect(await writers()).toEqual(before);
  await store.recordRunning(PROD, [server('clock', { ready: false }), server('x', { namespace: 'ops' })]);
  const after = await writers();
  expect(after[0]).toEqual(before[0]);
  expect(after[1]).not.toEqual(before[1]);
});

/** As if the runner had written its rows so long ago. */
async function age(runner: Runner, interval: string): Promise<void> {
  await database.sql(
    `update catalogue_running set written_at = now() - interval '${interval}' where home = '${runner.homeNamespace}'`,
  );
}

test('what is as it was is written again once that is due', async () => {
  await store.recordRunning(PROD, [server('clock')]);
  const before = await writers();
  await age(PROD, '11 minutes');
  const aged = await writers();
  await store.recordRunning(PROD, [server('clock')]);
  expect(await writers()).not.toEqual(aged);
  expect(before).toHaveLength(1);
  const fresh = "select 1 from catalogue_running where written_at > now() - interval '10 minutes'";
  expect(await database.sql(fresh)).toHaveLength(1);
});

test('what a reconciler left that no longer writes is not shown', async () => {
  await store.recordRunning(PROD, [server('clock')]);
  await store.recordRunning(OTHER, [server('notes')]);
  await age(PROD, '90 minutes');
  expect(await names()).toEqual(['clock', 'notes']);
  await age(PROD, '121 minutes');
  expect(await names()).toEqual(['notes']);
  await store.recordRunning(PROD, [server('clock')]);
  expect(await names()).toEqual(['clock', 'notes']);
});

test('of two reconcilers that say they run a server, the one counts that wrote last', async () => {
  await store.recordRunning(PROD, [server('clock', { ready: false })]);
  await store.recordRunning(OTHER, [server('clock')]);
  expect(await names()).toEqual(['clock']);
  await age(OTHER, '5 minutes');
  expect(await names()).toEqual(['clock not ready']);
});

test('whatever text a server has, it can be stored and read', async () => {
  const args = ['\ud800', '\u0000', '"\\', "'; drop table catalogue_running"];
  await store.recordRunning(PROD, [server('clock', { args })]);
  expect((await store.running(TEAM)).servers[0]?.args).toEqual(args);
});

test('the documents of the registry that may stand for a server come along, and follow its content', async () => {
  const image = 'images.example.com/clock:1';
  const url = 'https://faraway.example.com/mcp?a="b"';
  const packages = [{ registryType: 'oci', identifier: image, transport: { type: 'stdio' } }];
  const clock = entryOf({ name: 'io.acme/clock', description: 'x', version: '1.0.0', packages });
  const remotes = [{ type: 'streamable-http', url }];
  const faraway = entryOf({ name: 'io.acme/faraway', description: 'x', version: '1.0.0', remotes });
  const other = entryOf({ name: 'io.acme/other', description: 'x', version: '1.0.0' });
  await store.recordRunning(PROD, [server('clock', { image }), server('far', { remoteUrl: url })]);
  const key = { ...TEAM, source: 'main' };
  async function fill(...entries: readonly (typeof clock)[]): Promise<readonly string[]> {
    const counts = { attemptCount: 0, serverCount: entries.length, rejectedCount: 0 };
    await store.replace(key, entries, { phase: 'Complete', message: '', ...counts }, () => new Date().toISOString());
    return (await store.running(TEAM)).documents.map((text) => JSON.parse(text).name).sort();
  }
  expect(await fill(clock, faraway, other)).toEqual(['io.acme/clock', 'io.acme/faraway']);
  const found = await store.running(TEAM);
  await store.ping();
  expect(await store.running(TEAM)).toBe(found);
  expect(await fill(faraway, other)).toEqual(['io.acme/faraway']);
});

test('a service is ready on a database that knows nothing of what runs', async () => {
  const older = await createTestDatabase();
  const service = createStore(openPool(older.app));
  try {
    await older.sql('drop table catalogue_running');
    await service.ping();
    await expect(service.running(TEAM)).rejects.toMatchObject({ code: 'database-not-migrated' });
  } finally {
    await service.close();
    await older.drop();
  }
});
