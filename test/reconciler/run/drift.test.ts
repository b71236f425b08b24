// Drift: what others change in objects that Git declares, with nothing said about conflicts in skep.yaml.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER } from '#reconciler/run/labels.ts';
import { adopt } from '#reconciler/run/operate/adopt.ts';
import { eventually } from '../../cluster/server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish, server } from './fleet.ts';

let world: World;
let folder: InstanceFolder;
/** Another instance, which reads the same commits. */
let other: InstanceFolder;

beforeAll(async () => {
  world = await startWorld();
  folder = instanceFolder(world);
  folder.configure({ apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
  other = instanceFolder(world);
  other.configure({ name: 'other', apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
});
afterAll(async () => {
  await world.close();
  folder.remove();
  other.remove();
});

const SERVER = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/wiki';

/** As a person does, by another field manager. */
async function edit(path: string, body: object, manager = 'kubectl-edit'): Promise<void> {
  const contentType = 'application/merge-patch+json';
  const { status } = await world.cluster.send('PATCH', `${path}?fieldManager=${manager}`, { body, contentType });
  expect(status).toBe(200);
}

async function imageOf(name: string): Promise<unknown> {
  const set = `/apis/apps/v1/namespaces/tools/statefulsets/${name}`;
  const specs = await Promise.all([SERVER, set].map((path) => world.cluster.send('GET', path)));
  const [declared, made] = specs.map(({ body }) => body.spec.image ?? body.spec.template.spec.containers[0].image);
  expect(made).toBe(declared);
  return declared;
}

async function childrenOf(name: string): Promise<string> {
  const all = [...(await members(world.client, 'test')).values()];
  const children = all.filter(({ metadata }) => metadata.labels?.[OWNER] === `mcpserver.${name}`);
  return JSON.stringify(children.map(({ metadata: _metadata, status: _status, ...rest }) => rest));
}

function sync() {
  return folder.use((instance) => instance.run());
}

test('an image that somebody patched on an MCPServer never reaches its children, and the run reports that it is set back', async () => {
  publish(world.fleet, { wiki: '1.0.0' });
  await sync();
  const before = await childrenOf('wiki');
  await edit(SERVER, { spec: { image: 'images.example.com/wiki:hotfix' } });
  const result = await sync();
  expect(result.problems.map(({ code, severity, pointer, place }) => [code, severity, pointer, place?.file])).toEqual([
    ['field-set-back', 'warning', '/spec/image', 'cluster/wiki.yaml'],
  ]);
  expect(await imageOf('wiki')).toBe('images.example.com/wiki:1.0.0');
  expect(await childrenOf('wiki')).toBe(before);
});

test('a field of a child is set back, and the manifest of its owner is named', async () => {
  const path = '/apis/apps/v1/namespaces/tools/deployments/wiki';
  const { body } = await world.cluster.send('GET', path);
  const [container] = body.spec.template.spec.containers;
  const containers = [{ ...container, image: 'images.example.com/other:1' }];
  await edit(path, { spec: { template: { spec: { containers } } } });
  const result = await sync();
  const [found, ...others] = result.problems;
  expect([found?.code, found?.place?.file, others]).toEqual(['field-set-back', 'cluster/wiki.yaml', []]);
  expect(found?.message).toMatch(
    /^\/spec\/template\/spec\/containers\/\[name=\S+\]\/image was set to another value by/,
  );
  expect((await sync()).problems).toEqual([]);
});

test('children follow a field of their resource that its manifest leaves to others', async () => {
  const text = server('wiki', '1.0.0').replace(
    'name: wiki',
    'name: wiki, annotations: {skep.dev/ignore-fields: /spec/image}',
  );
  world.fleet.commit({ 'cluster/wiki.yaml': text });
  await sync();
  await edit(SERVER, { spec: { image: 'images.example.com/wiki:by-an-updater' } }, 'updater');
  const result = await sync();
  expect(result.problems).toEqual([]);
  expect(result.fields.map(({ path, manager, state }) => [path, manager, state])).toEqual([
    ['/spec/image', 'updater', 'left'],
  ]);
  expect(await childrenOf('wiki')).toContain('wiki:by-an-updater');
  const status = await folder.run('status');
  expect(status.stdout).toMatch(/^test: in sync/);
  expect(status.stdout).toContain(
    'left to another manager (skep.dev/ignore-fields):\n  tools/MCPServer/wiki: /spec/image, set by updater',
  );
  expect((await folder.run('plan', '--detailed-exitcode')).code).toBe(0);
});

test('a field that is kept under `report` is drift: `plan --detailed-exitcode` exits with 2, and status counts it', async () => {
  folder.configure({ apply: { maxDeletesPercent: 100, waitSeconds: 0, conflicts: 'report' } });
  world.fleet.commit({ 'cluster/wiki.yaml': server('wiki', '1.0.0') });
  await sync();
  const plan = await folder.run('plan', '--detailed-exitcode', '-o', 'json');
  expect([plan.code, JSON.parse(plan.stdout).fields]).toMatchObject([2, [{ path: '/spec/image', state: 'kept' }]]);
  expect((await folder.run('status')).stdout).toMatch(/^test: 1 field differs/);
  folder.configure({ apply: { maxDeletesPercent: 100, waitSeconds: 0 } });
});

test('what another instance has is not taken: neither its resource nor a namespace that both declare', async () => {
  publish(world.fleet, { wiki: '2.0.0' });
  await sync();
  const before = await childrenOf('wiki');
  publish(world.fleet, { wiki: '3.0.0' });
  const more = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: tools}\ndata: {a: b}\n';
  world.fleet.commit({ 'cluster/more.yaml': more });
  const result = await other.use((instance) => instance.run());
  expect(result.problems.map(({ code, resource, pointer }) => [code, resource?.kind, pointer])).toEqual([
    ['resource-foreign', 'Namespace', '/metadata/name'],
    ['resource-foreign', 'MCPGroup', '/metadata/name'],
    ['resource-foreign', 'MCPServer', '/metadata/name'],
  ]);
  expect(await childrenOf('wiki')).toBe(before);
  // What else is in that namespace is applied.
  expect(result.outcomes.map(({ action, resource }) => [action, resource.name])).toEqual([['created', 'more']]);
});

test('`skep adopt` takes over what another instance has', async () => {
  await other.use(async (instance) => {
    // Controllers write, too: what they wrote at the same moment is taken over the next time.
    await eventually(
      () => adopt(instance.deps, instance.options(), true),
      ({ refused }) => refused.length === 0,
    );
    const taken = await instance.run();
    expect(taken.problems).toEqual([]);
    // Nothing of the former owner's entries is left behind.
    expect((await instance.run()).outcomes).toEqual([]);
  });
  expect(await imageOf('wiki')).toBe('images.example.com/wiki:3.0.0');
  const first = await sync();
  expect(first.problems.map(({ code, resource }) => [code, resource?.kind])).toEqual([
    ['resource-foreign', 'Namespace'],
    ['resource-foreign', 'MCPGroup'],
    ['resource-foreign', 'ConfigMap'],
    ['resource-foreign', 'MCPServer'],
  ]);
  expect(first.outcomes).toEqual([]);
});
