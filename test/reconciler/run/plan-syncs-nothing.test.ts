// A plan of a fleet with a registry, and a run whose source waits, leave the catalogue as it is.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';

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

const FLEET = `apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: default}
data:
  servers.json: '{"version": "1.0.0", "last_updated": "2026-01-01T00:00:00Z", "servers": {"clock": {"description": "Tells the time", "tier": "Community", "status": "Active", "transport": "stdio", "image": "images.example.com/clock:1.0.0", "tools": ["now"]}}}'
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: default}
spec:
  enforceServers: true
  registries:
    - name: all
      format: toolhive
      configMapRef: {name: servers, key: servers.json}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: clock, namespace: default}
spec: {image: 'images.example.com/clock:1.0.0', transport: stdio}
`;

function registries(): RegistryDeps {
  return {
    sourceFor: (view) => ({
      async read({ origin }) {
        const data = origin.type === 'configMap' ? view.find('ConfigMap', origin.name)?.data : undefined;
        const text = isObject(data) ? data['servers.json'] : undefined;
        if (typeof text !== 'string') throw new Failure('source-not-found', 'no such ConfigMap');
        return { documents: [{ text, location: 'ConfigMap default/servers' }], extent: 'whole' };
      },
    }),
    storeFor: async () => store,
  };
}

const OWN = { namespace: 'default', registry: 'catalogue' };

test('a plan before the first run syncs nothing, and cannot know which images are enforced', async () => {
  world.fleet.commit({ 'cluster/fleet.yaml': FLEET });
  const { catalogue, problems } = await world.plan({ registries: registries() });
  expect(catalogue).toEqual([]);
  expect(problems.map(({ code }) => code)).toEqual(['image-unknown']);
  expect(await store.states(OWN)).toEqual({});
});

test('a plan after a run knows what that run has stored', async () => {
  const run = await world.run({ registries: registries(), waitSeconds: 0 });
  expect(run.catalogue.map(({ source, action }) => `${source} ${action}`)).toEqual(['default/catalogue/all synced']);
  const before = await store.states(OWN);
  const { catalogue, problems } = await world.plan({ registries: registries() });
  expect(catalogue).toEqual([]);
  expect(problems).toEqual([]);
  expect(await store.states(OWN)).toEqual(before);
});

test('a registry of a source that waits is not synced', async () => {
  const file = (name: string) =>
    FLEET.replaceAll('name: servers', `name: ${name}`).replace('name: catalogue', `name: ${name}`);
  world.fleet.commit({
    'cluster/fleet.yaml': FLEET,
    'apps/fleet.yaml': file('waiting').split('---\n').slice(0, 2).join('---\n'),
    'infra/pod.yaml': `apiVersion: v1
kind: Pod
metadata: {name: pending, namespace: default}
spec: {containers: [{name: a, image: 'images.example.com/a:1'}]}
`,
  });
  const dependsOn = ['infra'];
  const sources: WorldOverrides['sources'] = (fleet) => [
    fleet,
    { ...fleet, name: 'infra', path: 'infra' },
    { ...fleet, name: 'apps', path: 'apps', dependsOn },
  ];
  const run = await world.run({ registries: registries(), waitSeconds: 0, sources });
  expect(run.waits).toHaveLength(1);
  expect(run.catalogue).toEqual([]);
  expect(await store.states({ ...OWN, registry: 'waiting' })).toEqual({});
  dependsOn.pop();
  await world.run({ registries: registries(), waitSeconds: 0, sources });
  expect(await store.states({ ...OWN, registry: 'waiting' })).toHaveProperty('all');
});
