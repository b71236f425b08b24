// Children that others make: another operator, where `children: false` says so, and another instance of skep.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER } from '../../src/reconcile/labels.ts';
import { exitCodeOf } from '../../src/reconcile/result.ts';
import { startWorld, type World } from '../harness/world.ts';
import { members, publish, versionsOf } from './fleet.ts';

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
  // The namespace is declared by both, and may be.
  const { 'Namespace/tools': _shared, ...before } = versionsOf(await members(world.client, 'test'));
  const other = await world.run({ instance: 'other', conflicts: 'report', waitSeconds: 0 });
  const problems = other.problems.filter(({ severity }) => severity === 'error');
  expect(problems.map(({ code, resource }) => [code, resource?.kind])).toEqual([
    ['resource-foreign', 'MCPGroup'],
    ['resource-foreign', 'MCPServer'],
  ]);
  expect(exitCodeOf(other)).toBe(3);
  expect(versionsOf(await members(world.client, 'test'))).toMatchObject(before);
});
