// Deletions beyond the limits: they wait, a person approves exactly them, and a run carries them out, also where it is
// killed half way through.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import {
  type Approval,
  approves,
  readApprovals,
  spendApprovals,
  storeApproval,
} from '#reconciler/run/records/approval.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };
const LIMITS = { limits: { maxDeletes: 0, maxDeletesPercent: 100 }, waitSeconds: 0 };
let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

afterEach(async () => {
  publish(world.fleet, {});
  await world.run({ waitSeconds: 0 });
});

async function serve(...names: readonly string[]): Promise<RunResult> {
  publish(world.fleet, Object.fromEntries(names.map((name) => [name, '1.0.0'])));
  return world.run(LIMITS);
}

async function servers(): Promise<string[]> {
  const ids = [...(await members(world.client, 'test')).keys()];
  return ids.flatMap((id) => /^tools\/MCPServer\/(.*)$/.exec(id)?.[1] ?? []);
}

function hashOf({ plan }: RunResult): string {
  return plan.waiting[0]?.hash ?? '';
}

async function approvals(): Promise<readonly Approval[]> {
  return (await readApprovals(world.client, HOME)).all;
}

const DEPS = { clock: systemClock };

test('what is approved goes in the next run, and the approval with it', async () => {
  await serve('one', 'two');
  const waiting = await serve('two');
  expect(await servers()).toEqual(['one', 'two']);
  const { list } = await world.approve(hashOf(waiting), 24, LIMITS);
  expect(list.deletions).toHaveLength(10);

  const result = await world.run(LIMITS);
  expect(result.plan.approved[0]?.approval.hash).toBe(hashOf(waiting));
  expect(result.outcomes.filter(({ action }) => action === 'deleted')).toHaveLength(10);
  expect(await servers()).toEqual(['two']);
  expect(await approvals()).toEqual([]);
  // The same name again is another object, and no one approved its deletion.
  await serve('one', 'two');
  expect(hashOf(await serve('two'))).not.toBe(hashOf(waiting));
  expect(await servers()).toEqual(['one', 'two']);
});

test('an approval is of one list: fewer or more wait', async () => {
  await serve('one', 'two', 'three');
  const waiting = await serve('three');
  await world.approve(hashOf(waiting), 24, LIMITS);
  for (const kept of [['two', 'three'], []]) {
    const other = await serve(...kept);
    expect(hashOf(other)).toMatch(/^[0-9a-f]{16}$/);
    expect(other.outcomes.filter(({ action }) => action === 'deleted')).toEqual([]);
  }
  expect((await serve('three')).plan.waiting).toEqual([]);
  expect(await servers()).toEqual(['three']);
});

test('a run that was killed half way through is finished by the next: the approval is not lost', async () => {
  await serve('one', 'two');
  const waiting = await serve();
  await world.approve(hashOf(waiting), 24, LIMITS);
  const killed = new Error('killed');
  const progress = ({ action }: { readonly action: string }): void => {
    if (action === 'deleted') throw killed;
  };
  await expect(world.run({ ...LIMITS, progress })).rejects.toBe(killed);
  expect(await servers()).toEqual(['one', 'two']);
  const [approval] = await approvals();
  expect([approval?.hash, approval?.begun]).toEqual([hashOf(waiting), true]);

  const result = await world.run(LIMITS);
  const [left] = result.plan.approved;
  expect([left?.hash === hashOf(waiting), approval && left && approves(approval, left)]).toEqual([false, true]);
  expect(await servers()).toEqual([]);
  expect(await approvals()).toEqual([]);
});

test('no commit approves its own deletions, nor takes the lease', async () => {
  await serve('one');
  const hash = hashOf(await serve());
  const data = { [hash]: JSON.stringify({ expiresAt: '2999-01-01T00:00:00Z', uids: [] }) };
  const metadata = { namespace: 'default', name: 'skep-test-approval' };
  const approval = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...metadata, name: 'skep-test' } };
  const files = { 'cluster/own/approval.json': approval, 'cluster/own/lease.json': lease };
  world.fleet.commit(Object.fromEntries(Object.entries(files).map(([path, each]) => [path, JSON.stringify(each)])));
  for (const _run of [1, 2]) {
    const { problems, outcomes } = await world.run(LIMITS);
    expect(problems.map(({ code }) => code)).toEqual(['record-declared', 'record-declared']);
    expect(outcomes).toEqual([]);
  }
  expect(await servers()).toEqual(['one']);
  world.fleet.commit(Object.fromEntries(Object.keys(files).map((path) => [path, undefined])));
});

test('of a list that was begun, what may be replaced may not be deleted for good, nor with more than it had; less is right', async () => {
  await serve('one');
  const [guarded] = (await serve()).plan.waiting;
  const [first, ...others] = guarded?.deletions ?? [];
  if (guarded === undefined || first === undefined) throw new Error('nothing waits');
  const anew = { ...guarded, deletions: [{ ...first, replaced: true as const }, ...others] };
  const taking = (...takes: string[]) => ({ ...guarded, deletions: [{ ...first, takes }, ...others] });
  for (const [approved, left, expected] of [
    [anew, guarded, false],
    [anew, anew, true],
    [guarded, anew, true],
    [guarded, taking('tools/ConfigMap/theirs'), false],
    [taking('tools/ConfigMap/theirs'), taking('tools/ConfigMap/other'), false],
    [taking('tools/ConfigMap/theirs', 'tools/ConfigMap/other'), taking('tools/ConfigMap/other'), true],
  ] as const) {
    await storeApproval(
      { ...DEPS, cluster: world.client },
      HOME,
      { ...approved, hash: 'approved' },
      '2999-01-01T00:00:00Z',
    );
    const given = await readApprovals(world.client, HOME);
    const [approval] = given.all;
    expect(approval && approves({ ...approval, begun: true }, { ...left, hash: 'left' })).toBe(expected);
    await spendApprovals(world.client, HOME, given, new Set(['approved']));
  }
});

test('who may list more approves what goes along as he sees it, for whoever sees less of it', async () => {
  await serve('one');
  const [guarded] = (await serve()).plan.waiting;
  const [first, ...others] = guarded?.deletions ?? [];
  if (guarded === undefined || first === undefined) throw new Error('nothing waits');
  const seen = { ...guarded, hash: 'seen', deletions: [{ ...first, takes: ['tools/Lease/theirs'] }, ...others] };
  await storeApproval({ ...DEPS, cluster: world.client }, HOME, seen, '2999-01-01T00:00:00Z');
  const given = await readApprovals(world.client, HOME);
  const [approval] = given.all;
  expect(approval && approves(approval, guarded)).toBe(true);
  expect(approval && approves(approval, { ...guarded, deletions: guarded.deletions.slice(1) })).toBe(false);
  const more = [{ ...first, takes: ['tools/Lease/theirs', 'tools/Lease/new'] }, ...others];
  expect(approval && approves(approval, { ...guarded, deletions: more })).toBe(false);
  await spendApprovals(world.client, HOME, given, new Set(['seen']));
});

test('an approval that ran out approves nothing, and the plan says so', async () => {
  await serve('one');
  const { expiresAt } = await world.approve(hashOf(await serve()), 0, LIMITS);
  const { plan, outcomes } = await world.run(LIMITS);
  expect([plan.waiting[0]?.expiredAt, outcomes]).toEqual([expiresAt, []]);
  expect(await servers()).toEqual(['one']);
  await world.approve(plan.waiting[0]?.hash ?? '', 24, LIMITS);
  await world.run(LIMITS);
  expect(await servers()).toEqual([]);
});

test('a hash under which nothing waits is refused, with the one that does', async () => {
  await serve('one');
  await expect(world.approve('0123456789abcdef', 24, LIMITS)).rejects.toThrow(/; no list waits now$/);
  const hash = hashOf(await serve());
  const refused = world.approve('0123456789abcdef', 24, LIMITS);
  await expect(refused).rejects.toBeInstanceOf(Failure);
  await expect(refused).rejects.toMatchObject({ code: 'approval-not-waiting', message: expect.stringContaining(hash) });
  expect(await approvals()).toEqual([]);
});

test('a later approval outlives the end of the run that had read the earlier one', async () => {
  await serve('one');
  const [list] = (await serve()).plan.waiting;
  if (list === undefined) throw new Error('nothing waits');
  const deps = { ...DEPS, cluster: world.client };
  await storeApproval(deps, HOME, list, '2999-01-01T00:00:00Z');
  const earlier = await readApprovals(world.client, HOME);
  await storeApproval(deps, HOME, { ...list, hash: 'later' }, '2999-01-01T00:00:00Z');
  expect(await spendApprovals(world.client, HOME, earlier, new Set([list.hash]))).toEqual([]);
  expect((await approvals()).map(({ hash }) => hash)).toContain('later');
});

test('what a person has spoilt approves nothing', async () => {
  await serve('one');
  await world.approve(hashOf(await serve()), 24, LIMITS);
  const { all, stored: record } = await readApprovals(world.client, HOME);
  const stored = record.objects[0];
  const approval = all.find(({ hash }) => hash !== 'later');
  if (approval === undefined || stored === undefined) throw new Error('nothing is approved');
  await world.client.replace({ ...stored, data: { [approval.hash]: '{"expiresAt": "never", "uids": []}' } });
  expect(hashOf(await world.run(LIMITS))).toBe(approval.hash);
  expect(await servers()).toEqual(['one']);
});

test('no manifest passes for a child: what names an owner in a label is counted all the same', async () => {
  const configMap = (name: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: tools, labels: {skep.dev/owner: mcpserver.one}}\n`;
  publish(world.fleet, { one: '1.0.0' });
  world.fleet.commit({ 'cluster/copies/maps.yaml': ['a', 'b', 'c'].map(configMap).join('---\n') });
  await world.run(LIMITS);
  publish(world.fleet, {});
  world.fleet.commit({ 'cluster/copies/maps.yaml': undefined });
  const result = await world.run({ limits: { maxDeletes: 1, maxDeletesPercent: 100 }, waitSeconds: 0 });
  expect(result.plan.waiting[0]?.reasons).toEqual(['4 deletions, more than apply.maxDeletes allows (1)']);
});
