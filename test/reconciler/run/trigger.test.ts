// `skep trigger`: what it writes, what a run does of it, and what is left of it afterwards.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';

let world: World;
let database: TestDatabase;
let folder: InstanceFolder;

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  folder = instanceFolder(world, database);
});

afterAll(async () => {
  folder.remove();
  await Promise.all([world.close(), database.drop()]);
});

const PATH = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/mcpregistries/catalogue';
const ANNOTATION = 'toolhive.stacklok.dev/sync-trigger';

function fleet(annotations: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: default${annotations}}
spec:
  registries:
    - {name: read, configMapRef: {name: servers, key: servers.json}, syncPolicy: {interval: 24h}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: servers, namespace: default}
data: {servers.json: '{"servers": {}}'}
`;
}

async function sync(): Promise<{ readonly actions: readonly string[]; readonly writes: number }> {
  const { stdout } = await folder.run('sync', '-o', 'json');
  const { catalogue, summary } = JSON.parse(stdout);
  const actions = catalogue.map(({ source, action }: Record<string, string>) => `${source} ${action}`);
  return { actions, writes: summary.created + summary.configured };
}

test('the next run syncs what is not due, once; it leaves the annotation, and Git wins where it has one', async () => {
  folder.configure({ apply: { waitSeconds: 0 } });
  world.fleet.commit({ 'cluster/fleet.yaml': fleet('') });
  expect((await sync()).actions).toEqual(['default/catalogue/read synced']);
  expect((await sync()).actions).toEqual([]);

  const triggered = await folder.run('trigger', 'catalogue');
  expect(triggered).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^the next run syncs default\/catalogue \(/),
  });
  const { body } = await world.cluster.send('GET', PATH);
  const value = body.metadata.annotations[ANNOTATION];
  expect(triggered.stdout).toContain(value);
  expect(await sync()).toEqual({ actions: ['default/catalogue/read unchanged'], writes: 0 });
  expect((await sync()).actions).toEqual([]);
  expect((await world.cluster.send('GET', PATH)).body.metadata.annotations[ANNOTATION]).toBe(value);

  world.fleet.commit({ 'cluster/fleet.yaml': fleet(`, annotations: {${ANNOTATION}: by-git}`) });
  await sync();
  const refused = await folder.run('trigger', 'default/catalogue');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    'error trigger-declared: another manager has set the sync-trigger of default/catalogue',
  );
});

test('a registry that is not there is told', async () => {
  const { code, stderr } = await folder.run('trigger', 'elsewhere/catalogue');
  expect(code).toBe(1);
  expect(stderr).toContain('error trigger-unknown-registry: there is no MCPRegistry elsewhere/catalogue');
});

test('where plans must be signed, a registry is synced as it lives, and adopt --yes is refused', async () => {
  folder.configure({ apply: { waitSeconds: 0 } });
  world.fleet.commit({ 'cluster/fleet.yaml': fleet('') });
  await sync();
  folder.configure({ apply: { waitSeconds: 0 }, plans: { require: 'signed', keys: ['/keys/release.pub'] } });
  const entry = '"clock": {"image": "images.example.com/clock:1", "transport": "stdio", "description": "Time"}';
  const unsigned = fleet(`, annotations: {${ANNOTATION}: unsigned}`).replace(
    '{"servers": {}}',
    `{"servers": {${entry}}}`,
  );
  world.fleet.commit({ 'cluster/fleet.yaml': unsigned });
  const run = () => folder.use((instance) => instance.run());
  const first = await run();
  expect(first.catalogue).toEqual([]);
  expect(new Set(first.outcomes.map(({ error }) => error?.code))).toEqual(new Set(['plan-required']));
  const body = { metadata: { annotations: { [ANNOTATION]: 'by-hand' } } };
  await world.cluster.send('PATCH', PATH, { body, contentType: 'application/merge-patch+json' });
  const { catalogue } = await run();
  expect(catalogue.map(({ action, servers }) => [action, servers])).toEqual([['unchanged', 0]]);

  const refused = await folder.run('adopt', '--yes');
  expect(refused).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(/^error plan-required: /) });
  folder.configure({ apply: { waitSeconds: 0 } });
  const { catalogue: after } = await run();
  expect(after.map(({ action, servers }) => [action, servers])).toEqual([['synced', 1]]);
});
