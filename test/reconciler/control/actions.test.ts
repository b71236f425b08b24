// Actions of operators over HTTP, on real runs: each has the effect of its command, needs the role, and is recorded.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RecentAction, WaitingState } from '#reconciler/run/fleet-state/waiting-format.ts';
import { resume } from '#reconciler/run/records/suspension.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { expectOutput } from '../../harness/outputs.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from '../run/fleet.ts';
import { type Keeper, startKeeper } from './keeper.ts';

const folder = temporaryFolder();
const [tokenFile, operatorTokenFile] = [join(folder.path, 'token'), join(folder.path, 'operator')];
const AS = { viewer: { authorization: 'Bearer reads' }, operator: { authorization: 'Bearer acts' } } as const;
const HOME = { instance: 'test', homeNamespace: 'default' };

type Waiting = WaitingState & { readonly actions: readonly RecentAction[] };

let world: World;
let keeper: Keeper;

beforeAll(async () => {
  writeFileSync(tokenFile, 'reads\n');
  writeFileSync(operatorTokenFile, 'unused\nacts\n');
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  publish(world.fleet, { one: '1.0.0', two: '1.0.0' });
  const http = { address: '127.0.0.1:0', tokenFile, operatorTokenFile };
  keeper = await startKeeper(world, { http, apply: { maxDeletes: 0 } });
});

beforeEach(() => resume({ cluster: world.client }, HOME));

afterAll(async () => {
  await keeper.stop();
  await world.close();
  folder.remove();
});

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function act(name: string, input: object = {}, as: keyof typeof AS = 'operator'): Promise<Answer> {
  const headers = { ...AS[as], 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(input) };
  const response = await fetch(`${keeper.url}/fleet/actions/${name}`, init);
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function waiting(): Promise<Waiting> {
  return (await (await fetch(`${keeper.url}/fleet/waiting`, { headers: AS.viewer })).json()) as Waiting;
}

/** Commits these servers, and waits for a run that has read them. */
async function publishAndRun(servers: Readonly<Record<string, string>>): Promise<string> {
  const commit = publish(world.fleet, servers);
  await eventually(
    async () => {
      await fetch(`${keeper.url}/sync`, { method: 'POST', headers: AS.viewer });
      return (await (await fetch(`${keeper.url}/fleet`, { headers: AS.viewer })).json()) as {
        readonly run?: { readonly id: string; readonly commits: Readonly<Record<string, string>> };
      };
    },
    ({ run }) => run?.commits.fleet === commit,
  );
  return commit;
}

async function lives(id: string): Promise<boolean> {
  return (await members(world.client, 'test')).has(id);
}

test('an approval needs the role and exactly the list that was shown, and the next run deletes that', async () => {
  await publishAndRun({ one: '1.0.0', two: '1.0.0' });
  await publishAndRun({ one: '1.0.0' });
  const { approvals } = await eventually(waiting, (state) => state.approvals.length === 1);
  const hash = approvals[0]?.hash;
  expect(approvals[0]?.deletions.map(({ id }) => id)).toContain('tools/MCPServer/two');
  expect(await act('approve', { hash, preview: true }, 'viewer')).toMatchObject({
    status: 403,
    body: { code: 'control-not-operator' },
  });
  const { body: shown } = await act('approve', { hash, preview: true });
  expect(shown).toMatchObject({ version: 1, action: 'approve', list: approvals[0] });
  expect(await act('approve', { hash })).toMatchObject({ status: 428, body: { code: 'control-confirmation-missing' } });
  expect(await act('approve', { hash, confirmed: 'something else' })).toMatchObject({
    status: 409,
    body: { code: 'control-confirmation-changed' },
  });
  // The list changes between the look and the answer.
  await publishAndRun({});
  expect(await act('approve', { hash, confirmed: shown.digest })).toMatchObject({
    status: 409,
    body: { code: 'control-action-refused', error: expect.stringContaining('[approval-not-waiting]') },
  });
  expect(await lives('tools/MCPServer/two')).toBe(true);
  await publishAndRun({ one: '1.0.0' });
  expect(await act('approve', { hash, confirmed: shown.digest })).toMatchObject({ status: 200 });
  await eventually(
    () => lives('tools/MCPServer/two'),
    (isThere) => !isThere,
  );
  const after = await eventually(waiting, ({ actions: [last] }) => last?.run !== undefined);
  expect(after.actions[0]).toMatchObject({ action: 'approve', by: 'operator token 2', result: 'done' });
  expect(after.actions.map(({ code }) => code)).toEqual([
    undefined,
    'approval-not-waiting',
    'control-confirmation-changed',
    'control-not-operator',
  ]);
  expect(await keeper.said(`run ${after.actions[0]?.run} follows: operator token 2: approve ${hash}`)).toBeDefined();
  expectOutput('waiting', JSON.stringify(after));
});

test('suspend and resume have the effect of the commands, and say who it was', async () => {
  expect((await act('suspend', { reason: 'moving' }, 'viewer')).status).toBe(403);
  expect(await act('suspend', { reason: 'moving' })).toMatchObject({ status: 200, body: { action: 'suspend' } });
  const { paused } = await eventually(waiting, (state) => state.paused !== undefined);
  expect(paused).toMatchObject({ by: 'suspension', who: 'operator token 2', reason: 'moving' });
  expect(await act('resume')).toMatchObject({ status: 200, body: { suspendedBy: 'operator token 2' } });
  await eventually(waiting, (state) => state.paused === undefined);
});

test('a rollback shows its commits and changes first, and is ended by following the branch again', async () => {
  await publishAndRun({ one: '1.0.0' });
  const good = await publishAndRun({ one: '1.1.0' });
  const runs = (await (await fetch(`${keeper.url}/runs`, { headers: AS.viewer })).json()) as {
    readonly runs: readonly { readonly id: string; readonly commits: Readonly<Record<string, string>> }[];
  };
  const run = runs.runs.find(({ commits }) => commits.fleet === good)?.id;
  const bad = await publishAndRun({ one: '2.0.0' });
  const { body: shown } = await act('rollback', { run, preview: true });
  expect(shown).toMatchObject({ run, commits: [{ source: 'fleet', good, bad }] });
  expect(shown.changes).toContainEqual({ action: 'update', resource: 'tools/MCPServer/one' });
  expect(await act('rollback', { run, confirmed: shown.digest })).toMatchObject({ status: 200 });
  const state = await eventually(waiting, ({ rolledBack }) => rolledBack.length === 1);
  expect(state.rolledBack[0]).toMatchObject({ source: 'fleet', good, bad, run });
  expect((await act('follow', { source: 'fleet' })).body).toMatchObject({ cleared: ['fleet'] });
  await eventually(waiting, ({ rolledBack }) => rolledBack.length === 0);
});

test('wrong arguments, forms and unknown runs are refused with a reason', async () => {
  expect(await act('suspend', { why: 'x' })).toMatchObject({
    status: 400,
    body: { error: 'there is no argument why [action-arguments]' },
  });
  expect(await act('approve', {})).toMatchObject({
    status: 400,
    body: { error: 'hash is missing [action-arguments]' },
  });
  expect(await act('approve', { hash: 3 })).toMatchObject({ status: 400 });
  expect(await act('suspend', { preview: 'true' })).toMatchObject({
    status: 400,
    body: { error: 'preview must be true or false' },
  });
  expect((await waiting()).paused).toBeUndefined();
  expect(await act('rollback', { run: 'ffffffff', preview: true })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('[run-not-found]') },
  });
  expect(await act('trigger', { namespace: 'tools', name: 'none' })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('[trigger-unknown-registry]') },
  });
  for (const [namespace, name] of [
    ['tools', 'other/catalogue'],
    ['tools/other', 'catalogue'],
    ['..', 'catalogue'],
    ['tools', 'a?b'],
  ])
    expect(await act('trigger', { namespace, name })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('names of Kubernetes') },
    });
  const form = { method: 'POST', headers: AS.operator, body: new URLSearchParams({ reason: 'x' }) };
  expect((await fetch(`${keeper.url}/fleet/actions/suspend`, form)).status).toBe(400);
  expect((await fetch(`${keeper.url}/fleet/actions/suspend`, { method: 'POST', body: '{}' })).status).toBe(401);
});
