// A Secret that could not be read says nothing: what is made of it stays as it is, also where it may do without it, and all
// that is made of others goes on.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openSnapshot } from '#reconciler/run/observe/snapshot.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { optionsOf, startWorld, type World } from '../../harness/world.ts';
import { GROUP, NAMESPACE } from './fleet.ts';

const OPTIONS = { waitSeconds: 0 };
const CHECKSUM = 'toolhive.stacklok.dev/secrets-checksum';
const SECRETS = { group: '', kind: 'Secret' };

let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
  for (const name of ['tools', 'other'])
    await world.client.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { force: true });
  for (const name of ['one', 'two']) await create('tools', name);
  await create('other', 'three');
});
afterEach(async () => {
  world.cluster.cluster.faults.clear();
});
afterAll(() => world.close());

async function create(namespace: string, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: { token: 'eA==' } };
  const { status } = await world.cluster.send('POST', `/api/v1/namespaces/${namespace}/secrets?fieldManager=other`, {
    body,
  });
  expect(status).toBe(201);
}

function idOf(name: string, namespace = 'tools') {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name };
}

function registry(name: string, secret: string, optional: boolean): string {
  return `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: ${name}, namespace: tools}
spec:
  registries:
    - name: all
      format: toolhive
      git:
        repository: https://git.example.com/fleet.git
        auth: {username: reader, passwordSecretRef: {name: ${secret}, key: token, optional: ${optional}}}
`;
}

async function checksums(): Promise<unknown[]> {
  const { body } = await world.cluster.send('GET', '/apis/apps/v1/namespaces/tools/deployments');
  const items = body.items as { spec: { template: { metadata: { annotations: Record<string, string> } } } }[];
  return items.map(({ spec }) => spec.template.metadata.annotations[CHECKSUM]);
}

test('where one Secret cannot be read, nothing is rendered without it, and others are read', async () => {
  const names = [registry('first', 'one', true), registry('second', 'one', false), registry('third', 'two', true)];
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, ...names].join('---\n') });
  await world.run(OPTIONS);
  const before = await checksums();
  expect(before).toHaveLength(3);
  world.cluster.cluster.faults.add({ match: { verb: 'get', name: 'one' }, action: { status: 403 } });
  const failed = await world.run(OPTIONS);
  expect(exitCodeOf(failed)).not.toBe(0);
  expect(failed.failures.map(({ code }) => code)).toEqual(['cluster-forbidden']);
  const unknown = failed.problems.filter(({ code }) => code === 'reference-unknown');
  expect(unknown.map(({ resource, severity }) => `${resource?.name} ${severity}`)).toEqual([
    'first error',
    'second error',
  ]);
  expect(await checksums()).toEqual(before);
  world.cluster.cluster.faults.clear();
  await world.run(OPTIONS);
  expect(await checksums()).toEqual(before);
});

test('nor is anything rendered without what only the configuration of the instance names', async () => {
  const manifest = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: served, namespace: tools}
spec:
  registries:
    - {name: all, format: toolhive, configMapRef: {name: servers, key: servers.json, optional: true}}
`;
  world.fleet.commit({ 'cluster/all.yaml': `${NAMESPACE}---\n${manifest}` });
  const services = { passFileSecret: { name: 'one', key: 'token' } };
  const { settings } = optionsOf({});
  const options = { ...OPTIONS, settings: { ...settings, catalogueDatabase: { services } } };
  await world.run(options);
  const before = await checksums();
  world.cluster.cluster.faults.add({ match: { verb: 'get', name: 'one' }, action: { status: 403 } });
  const { problems, plan } = await world.run(options);
  expect(problems.map(({ code, resource }) => `${resource?.name} ${code}`)).toEqual(['served reference-unknown']);
  expect(plan.batches).toEqual([]);
  expect(await checksums()).toEqual(before);
});

test('a virtual server keeps its children where its members cannot be listed, and others get theirs', async () => {
  const virtual = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: front, namespace: tools}
spec:
  config: {groupRef: team}
  incomingAuth: {type: anonymous}
`;
  const member = {
    apiVersion: 'toolhive.stacklok.dev/v1alpha1',
    kind: 'MCPServer',
    metadata: { name: 'byhand' },
    spec: { image: 'images.example.com/byhand:1', transport: 'stdio', groupRef: 'team' },
  };
  const api = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools';
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, GROUP, virtual].join('---\n') });
  await world.cluster.send('POST', `${api}/mcpservers`, { body: member });
  await world.run(OPTIONS);
  const made = async () =>
    (await world.cluster.send('GET', '/api/v1/namespaces/tools/configmaps/front-vmcp-config')).body;
  const before = await made();
  expect(JSON.stringify(before.data)).toContain('byhand');
  const status = async () => (await world.cluster.send('GET', `${api}/virtualmcpservers/front`)).body.status;
  const statusBefore = await status();
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'mcpservers' }, action: { status: 403 } });
  world.fleet.commit({
    'cluster/all.yaml': [NAMESPACE, GROUP, virtual, registry('beside', 'two', true)].join('---\n'),
  });
  const failed = await world.run(OPTIONS);
  expect((await made()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  expect(await status()).toEqual(statusBefore);
  const unknown = failed.problems.filter(({ code }) => code === 'reference-unknown');
  expect(unknown.map(({ resource, message }) => [resource?.name, message])).toEqual([
    ['front', 'it is unknown which objects of kind MCPServer are in namespace tools: they could not be listed'],
  ]);
  expect(failed.outcomes.map(({ resource }) => `${resource.kind}/${resource.name}`)).toContain('MCPRegistry/beside');
  world.cluster.cluster.faults.clear();
  await world.run(OPTIONS);
  expect((await made()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  await world.cluster.send('DELETE', `${api}/mcpservers/byhand`);
});

test('a Secret that comes while a run changes something is told with its keys', async () => {
  const manifest = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: all, namespace: tools}
spec:
  config: {groupRef: team}
  incomingAuth:
    type: oidc
    oidcConfig:
      type: inline
      resourceUrl: https://all.example.com
      inline:
        issuer: https://login.example.com
        audience: all
        clientId: all
        clientSecretRef: {name: late, key: token}
`;
  world.fleet.commit({ 'cluster/all.yaml': [NAMESPACE, GROUP, manifest].join('---\n') });
  const { client } = world;
  const { apply } = client;
  client.apply = async (object, how) => {
    if (object.kind === 'Deployment' && how.dryRun !== true) await create('tools', 'late');
    return apply(object, how);
  };
  await world.run(OPTIONS);
  client.apply = apply;
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/virtualmcpservers/all';
  const { body } = await world.cluster.send('GET', path);
  const conditions = body.status?.conditions as { type: string; message: string }[] | undefined;
  expect(conditions?.find(({ type }) => type === 'AuthConfigured')?.message).toBe('callers need a token');
});

test('what could be read is kept, and the kind stays unknown whatever succeeds after that', async () => {
  const snapshot = await openSnapshot(world.client, { namespaces: undefined, applySet: 'nobody' });
  await snapshot.ensure([SECRETS]);
  expect(snapshot.known(SECRETS)).toBe(true);
  world.cluster.cluster.faults.add({ match: { verb: 'get', name: 'one' }, action: { status: 403 } });
  await snapshot.complete([idOf('one'), idOf('two')]);
  expect(snapshot.find(idOf('two'))?.data).toEqual({ token: 'eA==' });
  expect(snapshot.find(idOf('one'))).toBeUndefined();
  await snapshot.complete([idOf('three', 'other')]);
  expect(snapshot.find(idOf('three', 'other'))?.data).toEqual({ token: 'eA==' });
  expect(snapshot.known(SECRETS)).toBe(false);
  expect([idOf('one'), idOf('two'), idOf('absent')].map(snapshot.knows)).toEqual([false, true, true]);
  expect(snapshot.failures()).toHaveLength(1);
});

test('a namespace that cannot be listed takes nothing from the others, and the kind stays unknown', async () => {
  const { client } = world;
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'secrets', nth: 1 }, action: { status: 403 } });
  const snapshot = await openSnapshot(client, { namespaces: ['other', 'tools'], applySet: 'nobody' });
  await snapshot.ensure([SECRETS]);
  const found = snapshot.objects().map(({ metadata }) => metadata.namespace);
  expect(new Set(found).size).toBe(1);
  await snapshot.complete([idOf('one'), idOf('three', 'other')]);
  expect(snapshot.known(SECRETS)).toBe(false);
  expect(snapshot.failures()).toHaveLength(1);
});
