// A registry that Git declares no more takes its catalogue along, and says that it goes while its children do.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;
let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  store = createStore(openPool(database.app));
});
afterAll(async () => {
  await store.close();
  await Promise.all([world.close(), database.drop()]);
});

function registry(name: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: ${name}, namespace: default}
spec:
  registries:
    - name: all
      format: toolhive
      git: {repository: https://git.example.com/servers.git}
`;
}

const TEXT = JSON.stringify({
  version: '1.0.0',
  last_updated: '2026-01-01T00:00:00Z',
  servers: {
    clock: {
      ...{ description: 'Tells the time', tier: 'Community', status: 'Active', transport: 'stdio', tools: ['now'] },
      image: 'images.example.com/clock:1.0.0',
    },
  },
});

function registries(open: () => Store = () => store): RegistryDeps {
  return {
    sourceFor: () => ({
      read: async () => ({ documents: [{ text: TEXT, location: 'servers.git registry.json' }], extent: 'whole' }),
    }),
    storeFor: async () => open(),
  };
}

function run(open?: () => Store): Promise<RunResult> {
  return world.run({ registries: registries(open), waitSeconds: 0 });
}

function did({ outcomes }: RunResult, name: string): string[] {
  const own = outcomes.filter(({ resource }) => resource.kind === 'MCPRegistry' && resource.name === name);
  return own.map(({ action, resource, error }) => `${formatId(resource)} ${action} ${error?.code ?? ''}`.trimEnd());
}

function states(name: string) {
  return store.states({ namespace: 'default', registry: name });
}

const LEAVING = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/mcpregistries/leaving';

async function leaving(): Promise<KubeObject | undefined> {
  const { status, body } = await world.cluster.send('GET', LEAVING);
  return status === 200 ? body : undefined;
}

/** A child that someone holds keeps its owner. */
async function holdChild(finalizers: readonly string[]): Promise<void> {
  const path = '/api/v1/namespaces/default/configmaps/leaving-registry-server-config';
  const body = { metadata: { finalizers } };
  const { status } = await world.cluster.send('PATCH', path, { body, contentType: 'application/merge-patch+json' });
  expect(status).toBe(200);
}

test('while its store cannot be reached, the registry stays', async () => {
  world.fleet.commit({ 'cluster/leaving.yaml': registry('leaving'), 'cluster/staying.yaml': registry('staying') });
  await run();
  expect(Object.keys(await states('leaving'))).toEqual(['all']);
  await holdChild(['example.com/hold']);
  world.fleet.commit({ 'cluster/leaving.yaml': undefined });
  let asked = 0;
  const result = await run(() => {
    asked += 1;
    // The first one asks for the registry that stays, before anything is planned.
    if (asked === 1) return store;
    throw new Failure('database-unreachable', 'the database is away');
  });
  expect(did(result, 'leaving')).toEqual(['default/MCPRegistry/leaving failed database-unreachable']);
  expect((await leaving())?.metadata.deletionTimestamp).toBeUndefined();
  expect(Object.keys(await states('leaving'))).toEqual(['all']);
});

test('it goes with its catalogue, says so until its children are gone, and no other goes', async () => {
  expect(did(await run(), 'leaving')).toEqual(['default/MCPRegistry/leaving deleted']);
  expect(await states('leaving')).toEqual({});
  expect(Object.keys(await states('staying'))).toEqual(['all']);
  expect((await leaving())?.status).toMatchObject({
    phase: 'Terminating',
    message: 'MCPRegistry is being terminated',
  });
  await holdChild([]);
  await expect.poll(leaving).toBeUndefined();
});

test('where no database is left to ask, nothing keeps the registry', async () => {
  world.fleet.commit({ 'cluster/staying.yaml': undefined, 'cluster/other.yaml': registry('other') });
  let asked = 0;
  const result = await run(() => {
    asked += 1;
    if (asked === 1) return store;
    throw new Failure('catalogue-not-configured', 'no database');
  });
  expect(did(result, 'staying')).toEqual(['default/MCPRegistry/staying deleted']);
});
