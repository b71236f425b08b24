// Children that others make: another operator, where `children: false` says so, and another instance of skep; and children of
// resources of which others keep a field.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER } from '#reconciler/run/labels.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish, server, versionsOf } from './fleet.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

async function ours(): Promise<string[]> {
  return [...(await members(world.client, 'test')).keys()].sort();
}

async function statusOf(name: string) {
  const { body } = await world.cluster.send(
    'GET',
    `/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/${name}`,
  );
  return body.status;
}

test('only what Git declares is applied, no status is written, and a second run writes nothing', async () => {
  publish(world.fleet, { clock: '1.0.0' });
  expect(exitCodeOf(await world.run({ children: false }))).toBe(0);
  expect(await ours()).toEqual(['Namespace/tools', 'tools/MCPGroup/team', 'tools/MCPServer/clock']);
  expect(await statusOf('clock')).toBeUndefined();

  world.cluster.cluster.resetCounters();
  await world.run({ children: false });
  expect(world.cluster.cluster.counters().writes).toEqual({});
});

test('it waits for what the other operator says', async () => {
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/clock/status?fieldManager=other';
  const say = (phase: string) =>
    world.cluster.send('PATCH', path, { body: { status: { phase } }, contentType: 'application/merge-patch+json' });
  await say('Pending');
  const waiting = await world.run({ children: false, waitSeconds: 0 });
  expect(waiting.readiness.progressing.map(({ name }) => name)).toEqual(['clock']);
  await say('Running');
  const done = await world.run({ children: false });
  expect(done.readiness.ready.map(({ name }) => name).sort()).toEqual(['clock', 'team']);
  expect(await statusOf('clock')).toEqual({ phase: 'Running' });
});

test('children that this instance made before are left to the other operator, until their owner goes', async () => {
  await world.run();
  const before = await ours();
  expect(before.length).toBeGreaterThan(5);

  const left = await world.run({ children: false });
  expect(left.outcomes).toEqual([]);
  expect(await ours()).toEqual(before);

  publish(world.fleet, {});
  await world.run({ children: false });
  const orphans = [...(await members(world.client, 'test')).values()].filter(
    ({ metadata }) => metadata.labels?.[OWNER] !== undefined && metadata.deletionTimestamp === undefined,
  );
  expect(orphans).toEqual([]);
});

test('a resource that another instance keeps is left as it lives, and its children are', async () => {
  publish(world.fleet, { shared: '1.0.0' });
  await world.run();
  publish(world.fleet, { shared: '2.0.0' });
  const before = versionsOf(await members(world.client, 'test'));
  const other = await world.run({ instance: 'other', conflicts: 'report', waitSeconds: 0 });
  const problems = other.problems.filter(({ severity }) => severity === 'error');
  expect(problems.map(({ code, resource }) => [code, resource?.kind])).toEqual([
    ['resource-foreign', 'Namespace'],
    ['resource-foreign', 'MCPGroup'],
    ['resource-foreign', 'MCPServer'],
  ]);
  expect(exitCodeOf(other)).toBe(3);
  expect(versionsOf(await members(world.client, 'test'))).toMatchObject(before);
});

const REPORT = { conflicts: 'report', waitSeconds: 0 } as const;

/** As a person does, by another field manager. */
async function edit(path: string, change: object): Promise<void> {
  const body = { body: change, contentType: 'application/merge-patch+json' };
  const { status } = await world.cluster.send('PATCH', `${path}?fieldManager=editor`, body);
  expect(status).toBe(200);
}

const SERVER = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/edited';

/** The text of everything that the server has become. */
async function childrenOf(name: string): Promise<string> {
  const all = [...(await members(world.client, 'test')).values()];
  const children = all.filter(({ metadata }) => metadata.labels?.[OWNER] === `mcpserver.${name}`);
  return JSON.stringify(children.map(({ metadata: _metadata, ...rest }) => rest));
}

test('children follow the field that somebody else keeps of their resource, and Git in all others', async () => {
  publish(world.fleet, { edited: '1.0.0' });
  await world.run();
  await edit(SERVER, { spec: { image: 'images.example.com/edited:hotfix' } });
  const kept = await world.run(REPORT);
  expect(kept.problems.map(({ code, pointer }) => [code, pointer])).toEqual([['field-conflict', '/spec/image']]);
  expect(await childrenOf('edited')).toContain('edited:hotfix');
  expect(await childrenOf('edited')).not.toContain('edited:1.0.0');
  // The mend takes the second run too: nothing is left to do.
  expect((await world.run(REPORT)).outcomes).toEqual([]);

  publish(world.fleet, { edited: '2.0.0' });
  const file = `${server('edited', '2.0.0')}  env: [{name: GREETING, value: hello}]\n`;
  world.fleet.commit({ 'cluster/edited.yaml': file });
  await world.run(REPORT);
  expect(await childrenOf('edited')).toMatch(/edited:hotfix.*GREETING|GREETING.*edited:hotfix/);
  expect(await childrenOf('edited')).not.toContain('edited:2.0.0');

  await world.run({ waitSeconds: 0 });
  expect(await childrenOf('edited')).toContain('edited:2.0.0');
  expect(await childrenOf('edited')).not.toContain('edited:hotfix');
});

test('what is read of a ConfigMap is what lives, too', async () => {
  const login = (issuer: string) => ({ issuer: `https://${issuer}.example.com`, audience: 'edited' });
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'login', namespace: 'tools' },
    data: login('first'),
  };
  const text = `${server('edited', '2.0.0')}  oidcConfig: {type: configMap, configMap: {name: login}}\n`;
  world.fleet.commit({ 'cluster/edited.yaml': text, 'cluster/login/login.yaml': JSON.stringify(configMap) });
  await world.run({ waitSeconds: 0 });
  const pods = async () => /runconfig-checksum":"(\w+)"/.exec(await childrenOf('edited'))?.[1];
  const before = await pods();
  expect(before).toBeDefined();
  await edit('/api/v1/namespaces/tools/configmaps/login', { data: login('second') });
  const { problems } = await world.run(REPORT);
  expect(problems.map(({ code }) => code)).toEqual(['field-conflict']);
  // What exists, not what Git would have; a proxy that runs follows its login's settings, so its pods stay.
  expect(await childrenOf('edited')).toContain('https://second.example.com');
  expect(await childrenOf('edited')).not.toContain('https://first.example.com');
  expect(await pods()).toBe(before);
  world.fleet.commit({ 'cluster/login/login.yaml': undefined });
});

test('a resource that is not valid with what somebody else keeps is held with its children', async () => {
  publish(world.fleet, { edited: '3.0.0' });
  await world.run({ waitSeconds: 0 });
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mcpservers.toolhive.stacklok.dev';
  const { body } = await world.cluster.send('GET', definition);
  const loose = structuredClone(body);
  delete loose.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.transport.enum;
  expect((await world.cluster.send('PUT', definition, { body: loose })).status).toBe(200);
  await edit(SERVER, { spec: { transport: 'pigeon' } });
  const before = await childrenOf('edited');
  publish(world.fleet, { edited: '4.0.0' });
  const { problems, outcomes } = await world.run(REPORT);
  const [found, ...others] = problems.filter(({ severity }) => severity === 'error');
  expect([found?.code, found?.pointer, others]).toEqual(['kept-invalid', '/spec/transport', []]);
  expect(found?.message).toMatch(/set \(\/spec\/transport by "editor"\): spec\.transport must be one of/);
  expect(outcomes).toEqual([]);
  expect(await childrenOf('edited')).toBe(before);
});
