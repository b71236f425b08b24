// Labels can be written by whoever may patch an object: what an instance has created is in its inventory, and nothing else is
// deleted without approval. A deletion that arrives late deletes nothing that is declared again.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { applySetId, PART_OF, RUN, SOURCE } from '#reconciler/run/labels.ts';
import { readInventory } from '#reconciler/run/records/inventory.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const OPTIONS = { limits: { maxDeletes: 20, maxDeletesPercent: 100 }, waitSeconds: 0 };
const HOME = { instance: 'test', homeNamespace: 'default' };
const MAPS = '/api/v1/namespaces/tools/configmaps';
const PARENT = '/api/v1/namespaces/default/configmaps/skep-test';
const INVENTORY = '/api/v1/namespaces/default/configmaps/skep-test-inventory';
let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});

afterAll(() => world.close());

beforeEach(async () => {
  publish(world.fleet, { wiki: '1.0.0' });
  world.fleet.commit({ 'cluster/map.yaml': map('ours') });
  await world.run(OPTIONS);
});

function map(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools}\ndata: {k: v}\n`;
}

function deleted({ outcomes }: RunResult): string[] {
  return outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => formatId(resource));
}

async function living(name: string): Promise<KubeObject | undefined> {
  const { status, body } = await world.cluster.send('GET', `${MAPS}/${name}`);
  return status === 200 ? body : undefined;
}

/** As someone writes it who may patch ConfigMaps, and knows all that is public. */
async function forge(name: string, manager: string): Promise<void> {
  const labels = { [PART_OF]: applySetId('test', 'default'), [SOURCE]: 'fleet' };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'tools', labels } };
  const path = `${MAPS}/${name}?fieldManager=${manager}&force=true`;
  await world.cluster.send('PATCH', path, { body, contentType: 'application/apply-patch+yaml' });
}

test('what somebody labels as of the set is reported and never deleted, and nothing else waits for it', async () => {
  await forge('theirs', 'skep-test');
  world.fleet.commit({ 'cluster/map.yaml': undefined });
  const result = await world.run(OPTIONS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, ['tools/ConfigMap/ours']]);
  expect(result.plan.waiting.map(({ reasons, deletions }) => [reasons, deletions.map(({ id }) => id)])).toEqual([
    [
      ['1 object has the labels of this instance, and its inventory has no record that it created them'],
      ['tools/ConfigMap/theirs'],
    ],
  ]);
  expect(await living('theirs')).toBeDefined();
  const [{ hash } = { hash: '' }] = result.plan.waiting;
  await world.approve(hash, 1, OPTIONS);
  expect(deleted(await world.run(OPTIONS))).toEqual(['tools/ConfigMap/theirs']);
});

test('an object that was made by hand, and was declared for a while, waits before it is deleted', async () => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'by-hand', namespace: 'tools' } };
  await world.cluster.send('POST', MAPS, { body });
  world.fleet.commit({ 'cluster/by-hand.yaml': map('by-hand') });
  await world.run(OPTIONS);
  world.fleet.commit({ 'cluster/by-hand.yaml': undefined });
  const result = await world.run(OPTIONS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(await living('by-hand')).toBeDefined();
  await world.cluster.send('DELETE', `${MAPS}/by-hand`);
});

test('an object that somebody deletes and makes anew under its name is not the recorded one', async () => {
  await world.cluster.send('DELETE', `${MAPS}/ours`);
  await forge('ours', 'skep-test');
  world.fleet.commit({ 'cluster/map.yaml': undefined });
  const result = await world.run(OPTIONS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  await world.cluster.send('DELETE', `${MAPS}/ours`);
});

test('what a run has created that ended before it recorded the uid is known by the run', async () => {
  world.fleet.commit({ 'cluster/second.yaml': map('second') });
  const ended = new Error('ended');
  const progress = ({ action }: { readonly action: string }): void => {
    if (action === 'created') throw ended;
  };
  await expect(world.run({ ...OPTIONS, progress })).rejects.toBe(ended);
  const { entries } = await readInventory(world.client, HOME);
  const entry = entries.get('/ConfigMap/tools/second');
  expect([entry?.uid, entry?.run]).toEqual([undefined, (await living('second'))?.metadata.annotations?.[RUN]]);
  world.fleet.commit({ 'cluster/second.yaml': undefined });
  expect(deleted(await world.run(OPTIONS))).toEqual(['tools/ConfigMap/second']);
});

test('where the inventory is lost, what is to be deleted waits for approval', async () => {
  await world.cluster.send('DELETE', INVENTORY);
  world.fleet.commit({ 'cluster/map.yaml': undefined });
  const result = await world.run(OPTIONS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  const [{ hash } = { hash: '' }] = result.plan.waiting;
  await world.approve(hash, 1, OPTIONS);
  expect(deleted(await world.run(OPTIONS))).toEqual(['tools/ConfigMap/ours']);
});

test('where nothing of the instance is recorded, not even its set, labels alone delete nothing', async () => {
  await world.cluster.send('DELETE', INVENTORY);
  await world.cluster.send('DELETE', PARENT);
  await forge('theirs', 'skep-test');
  world.fleet.commit({ 'cluster/map.yaml': undefined });
  const result = await world.run(OPTIONS);
  expect([exitCodeOf(result), deleted(result)]).toEqual([5, []]);
  expect(result.plan.waiting.flatMap(({ deletions }) => deletions.map(({ id }) => id))).toEqual([
    'tools/ConfigMap/ours',
    'tools/ConfigMap/theirs',
  ]);
  for (const name of ['ours', 'theirs']) await world.cluster.send('DELETE', `${MAPS}/${name}`);
});

test('what an earlier run was deleting and is declared again gets another version, so that a late deletion fails', async () => {
  await world.run(OPTIONS);
  const before = await living('ours');
  const { body } = await world.cluster.send('GET', INVENTORY);
  const line = JSON.stringify(['leaving', '/ConfigMap/tools/ours', { uid: before?.metadata.uid }]);
  const data = { lines: `${body.data.lines}\n${line}` };
  await world.cluster.send('PUT', INVENTORY, { body: { ...body, data } });
  const { outcomes } = await world.run(OPTIONS);
  expect(outcomes.map(({ resource, action }) => [formatId(resource), action])).toEqual([
    ['tools/ConfigMap/ours', 'configured'],
  ]);
  const { uid = '', resourceVersion } = before?.metadata ?? {};
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'tools', name: 'ours' };
  await expect(world.client.remove(id, uid, undefined, resourceVersion)).rejects.toMatchObject({
    code: 'cluster-conflict',
  });
  expect((await world.run(OPTIONS)).outcomes).toEqual([]);
  expect((await readInventory(world.client, HOME)).leaving.size).toBe(0);
});

test('a run that changes nothing writes nothing', async () => {
  await world.run(OPTIONS);
  world.cluster.cluster.resetCounters();
  expect((await world.run(OPTIONS)).outcomes).toEqual([]);
  expect(world.cluster.cluster.counters().writes).toEqual({});
  expect([...(await members(world.client, 'test')).keys()]).toContain('tools/ConfigMap/ours');
});
