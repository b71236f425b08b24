// A registry with a source that the reconciler reads and one that only the service can: what a run does of it, and what
// it takes for known.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;
let database: TestDatabase;
let store: Store;
let reads: string[] = [];

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  store = createStore(openPool(database.app));
});
afterAll(async () => {
  await store.close();
  await Promise.all([world.close(), database.drop()]);
});

const OWN = { namespace: 'default', registry: 'catalogue' };

function fleet(trigger: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata:
  name: catalogue
  namespace: default
  annotations: {toolhive.stacklok.dev/sync-trigger: ${trigger}}
spec:
  enforceServers: true
  registries:
    - {name: read, configMapRef: {name: servers, key: servers.json}}
    - {name: mounted, pvcRef: {claimName: servers}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: default}
data: {servers.json: '{}'}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: servers, namespace: default}
spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock, namespace: default}
spec: {image: 'images.example.com/clock:1.0.0', transport: stdio}
`;
}

function run(trigger: string, writer: Store = store): Promise<RunResult> {
  reads = [];
  world.fleet.commit({ 'cluster/fleet.yaml': fleet(trigger) });
  const text = JSON.stringify({ servers: { other: { description: 'Another', image: 'images.example.com/other:1' } } });
  return world.run({
    waitSeconds: 0,
    registries: {
      sourceFor: () => ({
        async read({ key }) {
          reads.push(key.source);
          return { documents: [{ text, location: 'ConfigMap servers' }], extent: 'whole' };
        },
      }),
      storeFor: async () => writer,
    },
  });
}

async function serviceSyncs(): Promise<string | undefined> {
  const claim = await store.claim({ ...OWN, source: 'mounted' });
  if (claim === undefined) throw new Error('somebody else syncs it');
  const { requestedTrigger: trigger } = claim.state;
  const entry = { name: 'io.acme/clock', version: '1.0.0', description: 'x', tags: [], transports: [] };
  const images = ['images.example.com/clock:1.0.0'];
  const now = '2026-01-01T00:00:00.000Z';
  await claim.replace(
    { ...OWN, source: 'mounted' },
    [{ ...entry, document: { name: 'io.acme/clock' }, status: 'active', images }],
    {
      ...claim.state,
      phase: 'Complete',
      message: '1 server',
      lastAttempt: now,
      lastSyncTime: now,
      ...(trigger === undefined ? {} : { trigger }),
    },
    () => now,
  );
  return trigger;
}

test('as long as one source was never synced it is not known which images there are: nothing is refused', async () => {
  const { problems, catalogue } = await run('one');
  expect(catalogue.map(({ source, action }) => `${source} ${action}`)).toEqual(['default/catalogue/read synced']);
  expect(reads).toEqual(['read']);
  expect(problems.map(({ code }) => code)).toEqual(['image-unknown']);
});

test('what the service has synced counts, and it is told of the manual trigger', async () => {
  expect(await serviceSyncs()).toBe('one');
  const { problems } = await run('one');
  expect(problems).toEqual([]);
  expect(reads).toEqual([]);
  const status = await registryStatus();
  expect(status).toMatchObject({
    lastManualSyncTrigger: 'one',
    syncStatus: { phase: 'Complete', serverCount: 1, message: 'synced: read, mounted' },
  });
});

test('another value of the trigger is processed when both have', async () => {
  await run('two');
  expect(reads).toEqual(['read']);
  expect(await registryStatus()).toMatchObject({ lastManualSyncTrigger: 'one' });
  expect(await serviceSyncs()).toBe('two');
  await run('two');
  expect(await registryStatus()).toMatchObject({ lastManualSyncTrigger: 'two' });
});

async function registryStatus(): Promise<unknown> {
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/mcpregistries/catalogue';
  const { body } = await world.cluster.send('GET', path);
  return body.status;
}

test('a store that no longer answers makes the registry Failed with the reason, until it answers again', async () => {
  const gone = createStore(openPool({ ...database.app, database: 'no-such-database' }));
  try {
    await run('two', gone);
    expect(await registryStatus()).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/^the store of the catalogue failed: .*no-such-database/),
      syncStatus: { phase: 'Failed', serverCount: 1 },
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Ready', status: 'False', reason: 'StoreFailed' }),
      ]),
    });
  } finally {
    await gone.close();
  }
  const settled = async () => {
    await run('two');
    return await registryStatus();
  };
  await expect.poll(settled).toMatchObject({ phase: 'Ready', syncStatus: { phase: 'Complete' } });
});
