// Registry sources whose ConfigMap or password may be missing (`optional: true`).

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
  folder.configure({ apply: { waitSeconds: 0 } });
});

afterAll(async () => {
  folder.remove();
  await Promise.all([world.close(), database.drop()]);
});

const CLOCK = '{"image": "images.example.com/clock:1", "transport": "stdio", "description": "Time"}';
const CONTENT = `{"servers": {"clock": ${CLOCK}}}`;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

function registry(name: string, source: string): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: ${name}, namespace: default}
spec:
  registries: [{name: all, ${source}}]
`;
}

async function sync(): Promise<{ readonly catalogue: readonly string[]; readonly message: string }> {
  const { catalogue } = await folder.use((instance) => instance.run());
  return {
    catalogue: catalogue.map(({ action, servers }) => `${action} ${servers}`),
    message: catalogue.map(({ message }) => message).join('; '),
  };
}

async function createConfigMap(): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'servers', namespace: 'default' },
    data: { 'servers.json': CONTENT },
  };
  const { status } = await world.cluster.send('POST', `${CONFIG_MAPS}?fieldManager=other`, { body });
  expect(status).toBe(201);
}

test('without an optional ConfigMap a source is empty, and it is synced when the ConfigMap appears or disappears', async () => {
  const source = 'configMapRef: {name: servers, key: servers.json, optional: true}';
  world.fleet.commit({ 'cluster/fleet.yaml': registry('catalogue', source) });
  expect(await sync()).toMatchObject({ catalogue: ['synced 0'] });
  expect(await sync()).toMatchObject({ catalogue: [] });
  await createConfigMap();
  expect(await sync()).toMatchObject({ catalogue: ['synced 1'] });
  expect(await sync()).toMatchObject({ catalogue: [] });
  await world.cluster.send('DELETE', `${CONFIG_MAPS}/servers`);
  const gone = await sync();
  expect(gone).toEqual({ catalogue: ['unchanged 1'], message: expect.stringContaining('the source is empty since') });
  await createConfigMap();
  expect(await sync()).toMatchObject({ catalogue: ['synced 1'], message: '1 server' });
});

test('an optional ConfigMap that cannot be read does not count as missing', async () => {
  const match = { verb: 'get', resource: 'configmaps', name: 'servers' };
  world.cluster.cluster.faults.add({ match, action: { status: 403 } });
  expect(await sync()).toMatchObject({ catalogue: [] });
  world.cluster.cluster.faults.clear();
  expect(await sync()).toMatchObject({ catalogue: [] });
});

test('a ConfigMap that is not optional and is missing is a failure', async () => {
  const source = 'configMapRef: {name: others, key: servers.json, optional: false}';
  world.fleet.commit({ 'cluster/fleet.yaml': registry('strict', source) });
  expect(await sync()).toMatchObject({
    catalogue: ['failed 0'],
    message: 'ConfigMap others key servers.json: there is no such key',
  });
});

test('without an optional Secret, a repository is read without credentials', async () => {
  const secret = '{name: password, key: token, optional: true}';
  const auth = `auth: {username: reader, passwordSecretRef: ${secret}}`;
  const source = `git: {repository: "${world.git.url}/fleet.git", ${auth}}`;
  world.fleet.commit({ 'registry.json': CONTENT, 'cluster/fleet.yaml': registry('public', source) });
  expect(await sync()).toMatchObject({ catalogue: ['synced 1'] });
});
