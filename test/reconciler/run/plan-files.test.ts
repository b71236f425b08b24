// Plan files: what was planned is what is applied, also where the branch has moved on; what has moved in the cluster is
// named and left, with all that depends on it.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { admitNothing } from '#reconciler/run/plan-file/admission.ts';
import { formatPlanFile } from '#reconciler/run/plan-file/plan-file.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const OPTIONS = { waitSeconds: 0 };
let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

async function serve(servers: Readonly<Record<string, string>>): Promise<RunResult> {
  publish(world.fleet, servers);
  return world.run({ ...OPTIONS, limits: { maxDeletes: 1000, maxDeletesPercent: 100 } });
}

/** By `namespace/Kind/name`: `action` or `action code`. */
function outcomesOf({ outcomes }: RunResult): Record<string, string> {
  return Object.fromEntries(
    outcomes.map(({ action, resource, error }) => [
      formatId(resource),
      [action, ...(error ? [error.code] : [])].join(' '),
    ]),
  );
}

async function image(name: string): Promise<unknown> {
  const found = (await members(world.client, 'test')).get(`tools/MCPServer/${name}`);
  return found && (found.spec as { image?: unknown }).image;
}

const SERVER = { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', namespace: 'tools' };

async function create(name: string, image: string): Promise<void> {
  const { apiVersion, kind, namespace } = SERVER;
  await world.client.create({ apiVersion, kind, metadata: { name, namespace }, spec: { image, transport: 'stdio' } });
}

/** As someone else, by another field manager. */
async function edit(name: string, spec: Record<string, string>): Promise<void> {
  const live = await world.client.get({ ...SERVER, name });
  if (live === undefined) throw new Error(`${name} does not live`);
  await world.client.replace({ ...live, spec: { ...(live.spec as object), ...spec } } as KubeObject);
}

const VAULT = `apiVersion: v1
kind: Secret
metadata: {name: token, namespace: tools}
stringData: {value: a-value-that-nobody-may-see}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata: {name: keeper, namespace: tools}
spec:
  image: images.example.com/keeper:1.0.0
  transport: stdio
  secrets: [{name: token, key: value, targetEnvName: TOKEN}]
`;

test('a plan from before the first run makes everything, though it has no digests of Secrets', async () => {
  publish(world.fleet, {});
  world.fleet.commit({ 'cluster/vault/keeper.yaml': VAULT });
  const file = await world.planFile();
  expect(file.sealed).toBe(false);
  const result = await world.applyPlan(file, OPTIONS);
  const planned = file.batches.flatMap(({ changes }) => changes);
  expect(result.outcomes.map(({ action }) => action)).toEqual(planned.map(() => 'created'));
  // The key was made on the way: a run finds nothing to do, and the next plan has digests.
  expect((await world.run(OPTIONS)).outcomes).toEqual([]);
  world.fleet.commit({ 'cluster/vault/keeper.yaml': VAULT.replace('a-value-that', 'another-value-that') });
  const next = await world.planFile();
  const kinds = next.batches.flatMap(({ changes }) => changes.map(({ resource }) => resource.kind));
  expect([next.sealed, kinds.includes('Secret')]).toEqual([true, true]);
  expect(formatPlanFile(next)).not.toMatch(/value-that-nobody|YW5vdGhlci12YWx1ZS/);
  expect((await world.applyPlan(next, OPTIONS)).outcomes.map(({ action }) => action)).toEqual(
    kinds.map(() => 'configured'),
  );
  world.fleet.commit({ 'cluster/vault/keeper.yaml': undefined });
});

test('what was planned is applied, though the branch has moved on', async () => {
  await serve({ one: '1.0.0', two: '1.0.0' });
  publish(world.fleet, { one: '2.0.0', three: '1.0.0' });
  const file = await world.planFile();
  expect(formatPlanFile(file)).not.toContain('images.example.com');
  publish(world.fleet, { one: '3.0.0', four: '1.0.0' });
  const result = await world.applyPlan(file, OPTIONS);
  expect(result.commits.fleet).toBe(file.sources[0]?.commit);
  const planned = file.batches.flatMap(({ changes }) => changes.map(({ resource }) => formatId(resource)));
  expect(result.outcomes.map(({ resource }) => formatId(resource)).sort()).toEqual(planned.sort());
  expect(await Promise.all(['one', 'two', 'three', 'four'].map(image))).toEqual([
    'images.example.com/one:2.0.0',
    undefined,
    'images.example.com/three:1.0.0',
    undefined,
  ]);
  // Again, as after a run that was killed at its very end: all is done already.
  const again = await world.applyPlan(file, OPTIONS);
  expect([again.outcomes, exitCodeOf(again)]).toEqual([[], 0]);
});

test('an object that was edited since is named and left; the others go on, and nothing is deleted', async () => {
  await serve({ one: '1.0.0', two: '1.0.0', three: '1.0.0' });
  publish(world.fleet, { one: '2.0.0', two: '2.0.0' });
  const file = await world.planFile();
  await edit('one', { image: 'images.example.com/one:hotfix' });
  const result = await world.applyPlan(file, OPTIONS);
  const outcomes = outcomesOf(result);
  expect(outcomes['tools/MCPServer/one']).toBe('failed plan-stale');
  expect(outcomes['tools/MCPServer/two']).toBe('configured');
  expect(outcomes['tools/MCPServer/three']).toBe('held plan-other');
  const { error } = result.outcomes.find(({ resource }) => formatId(resource) === 'tools/MCPServer/one') ?? {};
  expect(error?.message).toMatch(/^its fields have changed since \(by \S+ at \S+\); now these differ: \/spec\/image$/);
  expect(await Promise.all(['one', 'two', 'three'].map(image))).toEqual([
    'images.example.com/one:hotfix',
    'images.example.com/two:2.0.0',
    'images.example.com/three:1.0.0',
  ]);
  // The children of what is stale wait for it.
  const children = result.outcomes.filter(({ owner }) => owner?.name === 'one');
  expect(children.length).toBeGreaterThan(0);
  expect(new Set(children.map(({ error: each }) => each?.code))).toEqual(new Set(['blocked']));
  expect(exitCodeOf(result)).toBe(7);
});

test('what was made again, is gone, or came in between is told as such', async () => {
  await serve({ one: '1.0.0', two: '1.0.0' });
  publish(world.fleet, { one: '2.0.0', two: '2.0.0', three: '1.0.0' });
  const file = await world.planFile();
  const one = await world.client.get({ ...SERVER, name: 'one' });
  await world.client.remove({ ...SERVER, name: 'one' }, one?.metadata.uid ?? '');
  await create('one', 'images.example.com/one:1.0.0');
  const two = await world.client.get({ ...SERVER, name: 'two' });
  await world.client.remove({ ...SERVER, name: 'two' }, two?.metadata.uid ?? '');
  await create('three', 'other:1');
  const result = await world.applyPlan(file, OPTIONS);
  const reasons = Object.fromEntries(
    result.outcomes.flatMap(({ resource, error }) =>
      resource.kind === 'MCPServer' && error?.code === 'plan-stale' ? [[resource.name, error.message]] : [],
    ),
  );
  expect(reasons).toEqual({
    one: 'it was deleted and created again since: it has another uid',
    two: 'it was to be updated, and was deleted since',
    three: 'it was to be created, and exists now',
  });
  expect(await image('three')).toBeUndefined();
});

test('a deletion that a finalizer keeps is asked for once, and its plan can be applied again', async () => {
  await serve({ one: '1.0.0', kept: '1.0.0' });
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/kept';
  const finalize = (finalizers: string[]) =>
    world.cluster.send('PATCH', path, {
      body: { metadata: { finalizers } },
      contentType: 'application/merge-patch+json',
    });
  await finalize(['example.com/never']);
  publish(world.fleet, { one: '1.0.0' });
  const file = await world.planFile();
  expect(outcomesOf(await world.applyPlan(file, OPTIONS))['tools/MCPServer/kept']).toBe('deleted');
  const again = await world.run(OPTIONS);
  expect(again.outcomes.filter(({ resource }) => resource.name === 'kept')).toEqual([]);
  expect(again.plan.held.find(({ resource }) => resource.name === 'kept')?.reason).toMatch(
    /^it is being deleted, and waits for .*example\.com\/never/,
  );
  expect((await world.applyPlan(file, OPTIONS)).outcomes.filter(({ action }) => action === 'failed')).toEqual([]);
  await finalize([]);
});

/** What a run would write; controllers go on telling how far workloads are. */
function contentsOf(objects: ReadonlyMap<string, KubeObject>): ReadonlyMap<string, unknown> {
  return new Map(
    [...objects].map(([id, { status: _status, metadata, ...content }]) => {
      const { resourceVersion: _version, managedFields: _fields, ...own } = metadata;
      return [id, { ...content, metadata: own }];
    }),
  );
}

test('where plans must be signed, a run changes nothing and says what waits', async () => {
  await serve({ solo: '1.0.0' });
  publish(world.fleet, { duo: '1.0.0' });
  const admit = admitNothing('the reason');
  const before = contentsOf(await members(world.client, 'test'));
  const result = await world.run({ ...OPTIONS, admit });
  expect(new Set(result.outcomes.map(({ action, error }) => `${action} ${error?.code}`))).toEqual(
    new Set(['held plan-required']),
  );
  expect([result.outcomes.length, exitCodeOf(result)]).toEqual([20, 5]);
  expect(contentsOf(await members(world.client, 'test'))).toEqual(before);
});

test('what drifted since and is not in the plan is left to the next one', async () => {
  await serve({ one: '1.0.0', two: '1.0.0' });
  publish(world.fleet, { one: '1.0.0', two: '2.0.0' });
  const file = await world.planFile();
  await edit('one', { image: 'images.example.com/one:hotfix' });
  const result = await world.applyPlan(file, OPTIONS);
  expect(outcomesOf(result)['tools/MCPServer/one']).toBe('held plan-other');
  expect(outcomesOf(result)['tools/MCPServer/two']).toBe('configured');
  expect(result.readiness.failed).toEqual([]);
  expect([await image('one'), exitCodeOf(result)]).toEqual(['images.example.com/one:hotfix', 0]);
});

describe('deletions beyond the limits', () => {
  const LIMITS = { ...OPTIONS, limits: { maxDeletes: 0, maxDeletesPercent: 100 } };

  test('a plan of which they wait says so, and does not carry them out: to apply it is no approval', async () => {
    await serve({ one: '1.0.0', two: '1.0.0' });
    publish(world.fleet, { two: '2.0.0' });
    const file = await world.planFile(LIMITS);
    expect([file.guard[0]?.verdict, file.guard[0]?.deletions.length]).toEqual(['waits', 10]);
    const result = await world.applyPlan(file, LIMITS);
    expect(outcomesOf(result)['tools/MCPServer/two']).toBe('configured');
    expect([await image('one'), exitCodeOf(result)]).toEqual(['images.example.com/one:1.0.0', 5]);
  });

  test('approved ones are part of the next plan, and go with it while the approval stands', async () => {
    await serve({ one: '1.0.0', two: '1.0.0' });
    publish(world.fleet, { two: '1.0.0' });
    const waiting = await world.planFile(LIMITS);
    await world.approve(waiting.guard[0]?.hash ?? '', 24, LIMITS);
    const file = await world.planFile(LIMITS);
    expect(file.guard[0]?.verdict).toBe('approved');
    const result = await world.applyPlan(file, LIMITS);
    expect(result.outcomes.filter(({ action }) => action === 'deleted')).toHaveLength(10);
    expect(await image('one')).toBeUndefined();
    // It was spent: the same list is never deleted twice by one approval.
    const again = await world.applyPlan(file, LIMITS);
    expect(again.outcomes).toEqual([]);
  });

  test('a plan whose approval ran out deletes nothing', async () => {
    await serve({ one: '1.0.0', two: '1.0.0' });
    publish(world.fleet, { two: '1.0.0' });
    const waiting = await world.planFile(LIMITS);
    await world.approve(waiting.guard[0]?.hash ?? '', 24, LIMITS);
    const file = await world.planFile(LIMITS);
    await world.approve(waiting.guard[0]?.hash ?? '', 0, LIMITS);
    const result = await world.applyPlan(file, LIMITS);
    expect(outcomesOf(result)['tools/MCPServer/one']).toBe('failed plan-stale');
    expect([await image('one'), exitCodeOf(result)]).toEqual(['images.example.com/one:1.0.0', 7]);
  });
});
