// What is kept of runs: in the cluster, and in PostgreSQL. An idle run keeps nothing, and writes nothing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHistory } from '#adapters/postgres/history.ts';
import { openPool, type Pool } from '#adapters/postgres/pool.ts';
import { jsonOfHistory, jsonOfRecord, textOfRecord } from '#reconciler/report/history.ts';
import { openClusterHistory } from '#reconciler/run/history/in-cluster.ts';
import type { HistoryStore, RunRecord } from '#reconciler/run/history/ports.ts';
import { completed, failedRecord } from '#reconciler/run/history/record.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { expectOutput } from '../../harness/outputs.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const PASSWORD = 'correct-horse';

let world: World;
let database: TestDatabase;
let folder: InstanceFolder;
let pool: Pool;

beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  folder = instanceFolder(world);
  pool = openPool(database.app);
});

afterAll(async () => {
  await pool.close();
  await Promise.all([world.close(), database.drop()]);
  folder.remove();
});

/** One run of a process of its own: nothing is remembered but by the history and the state folder. */
async function runOnce(): Promise<{ readonly result: RunResult; readonly runs: readonly RunRecord[] }> {
  return folder.use(async (instance) => ({
    result: await instance.run({ waitSeconds: 0 }),
    runs: await instance.history.latest(50),
  }));
}

function secret(value: string): string {
  return `apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: tools}\nstringData: {token: ${value}}\n`;
}

async function historyText(): Promise<string> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps/skep-test-history');
  return String(body.data['runs.json']);
}

test('runs that change something are kept, with what they changed and never what a Secret holds', async () => {
  const files = { ...fleetFiles({ clock: '1.0.0' }), 'cluster/secret.yaml': secret(`${PASSWORD}-1`) };
  const first = world.fleet.commit(files);
  await runOnce();
  const second = world.fleet.commit({
    ...fleetFiles({ clock: '2.0.0' }),
    'cluster/secret.yaml': secret(`${PASSWORD}-2`),
  });
  const { result, runs } = await runOnce();

  expect(result.warnings).toEqual([]);
  const [newest, oldest] = runs;
  expect([oldest?.commits, newest?.commits]).toEqual([{ fleet: first }, { fleet: second }]);
  expect(newest?.id).toBe(result.id);
  expect(newest?.outcomes).toContainEqual({
    action: 'configured',
    resource: 'tools/MCPServer/clock',
    diff: [{ path: '/spec/image', before: 'images.example.com/clock:1.0.0', after: 'images.example.com/clock:2.0.0' }],
  });
  expect(newest?.outcomes).toContainEqual({
    action: 'configured',
    resource: 'tools/Secret/token',
    diff: [{ path: '/data/token', before: '*** (before)', after: '*** (after)' }],
  });
  for (const json of [jsonOfHistory(runs), ...runs.map(jsonOfRecord)]) expectOutput('history', json);
  const text = await historyText();
  for (const value of [`${PASSWORD}-1`, `${PASSWORD}-2`]) {
    expect(text).not.toContain(value);
    expect(text).not.toContain(Buffer.from(value).toString('base64'));
  }
});

test('an idle run keeps nothing and writes nothing to the cluster; the state folder has when it was', async () => {
  // What was under way becomes ready.
  for (let state = ''; state !== 'succeeded'; state = JSON.parse(lastRun()).state) await runOnce();
  const before = await historyText();
  world.cluster.cluster.resetCounters();
  const { result } = await runOnce();
  expect(world.cluster.cluster.counters().writes).toEqual({});
  expect(await historyText()).toBe(before);
  expect(JSON.parse(lastRun())).toMatchObject({ id: result.id, finishedAt: result.finishedAt, state: 'succeeded' });
});

function lastRun(): string {
  return readFileSync(join(folder.dir, 'state', 'test-last-run.json'), 'utf8');
}

test('a run that ended before its resources were ready is completed by a later run, which writes nothing else', async () => {
  world.fleet.commit(fleetFiles({ clock: '2.0.0', late: '1.0.0' }));
  const { result, runs: first } = await runOnce();
  expect(first[0]).toMatchObject({ id: result.id, state: 'progressing' });
  for (let state = ''; state !== 'succeeded'; state = JSON.parse(lastRun()).state) await runOnce();
  const { runs } = await runOnce();
  expect(runs).toHaveLength(first.length);
  const [record] = runs;
  if (record === undefined) throw new Error('no run is kept');
  expect(record).toMatchObject({ id: result.id, state: 'succeeded', completed: { ready: expect.any(Number) } });
  expect(record.notReady).toBeUndefined();
  expect(textOfRecord(record)).toMatch(/^run \S+: succeeded; \d resources? (?:was|were) ready \d+ s later\n/);
  const status = await folder.run('status');
  expect(status.stdout).toMatch(/^last recorded run: succeeded; \d resources? (?:was|were) ready \d+ s later, at /m);
  for (const json of [jsonOfHistory(runs), jsonOfRecord(record)]) expectOutput('history', json);
});

test.each([
  { later: 'progressing', seconds: 299, completed: undefined },
  { later: 'progressing', seconds: 300, completed: { state: 'not-ready', left: ['late'], ready: 1 } },
  { later: 'failed', seconds: 1, completed: { state: 'not-ready', left: ['failed'], ready: 1 } },
  { later: 'not-run', seconds: 1, completed: { state: 'succeeded', left: ['not-run'], ready: 1 } },
] as const)('a resource that is $later after $seconds s', ({ later, seconds, completed: expected }) => {
  const at = (after: number) => new Date(Date.UTC(2026, 0, 1) + after * 1000).toISOString();
  const ended = (state: 'progressing' | 'failed' | 'not-run', names: readonly string[], after: number): RunRecord => {
    const notReady = names.map((name) => ({ resource: `tools/MCPServer/${name}`, state, why: 'why' }));
    return { ...small(1), failures: [], state: 'progressing', finishedAt: at(after), notReady };
  };
  const ready = [{ apiVersion: 'example.com/v1', kind: 'MCPServer', namespace: 'tools', name: 'one' }];
  const now = completed(ended('progressing', ['one', 'two'], 0), ended(later, ['two'], seconds), ready, 300);
  const left = now?.notReady?.map(({ state }) => state);
  expect(now && { state: now.state, left, ready: now.completed?.ready }).toEqual(expected);
});

test('a problem is kept when it comes and when it is gone, not once per run', async () => {
  world.fleet.commit({ 'cluster/broken.yaml': 'kind: MCPServer\n' });
  const { runs: before } = await runOnce();
  expect(before[0]).toMatchObject({ state: 'failed', problems: [{ code: 'missing-identity' }] });
  const { runs: again } = await runOnce();
  expect(again.length).toBe(before.length);
  world.fleet.commit({ 'cluster/broken.yaml': undefined });
  const { runs: after } = await runOnce();
  expect(after.length).toBe(before.length + 1);
  expect(after[0]?.problems).toEqual([]);
});

test('a history that cannot be written is a warning of the run', async () => {
  world.cluster.cluster.faults.add({
    match: { verb: 'update', resource: 'configmaps', name: 'skep-test-history' },
    action: { status: 403 },
  });
  world.fleet.commit(fleetFiles({ clock: '3.0.0' }));
  const { result } = await runOnce();
  world.cluster.cluster.faults.clear();
  expect(result.failures).toEqual([]);
  expect(result.warnings.map(({ code }) => code)).toEqual(['history-not-recorded']);
  expect(result.outcomes.map(({ action }) => action)).toContain('configured');
});

/** Nearly all of it differs from run to run, so that packing it saves little. */
function large(index: number): RunRecord {
  const noise = Array.from({ length: 2000 }, (_, at) => `${index}-${at}-${Math.sin(index * 2000 + at)}`);
  return { ...small(index), outcomes: noise.map((resource) => ({ action: 'created', resource })) };
}

function small(index: number): RunRecord {
  const at = '2026-01-01T00:00:00.000Z';
  return failedRecord({ id: `run-${index}`, startedAt: at, finishedAt: at }, new Failure('x', `number ${index}`));
}

describe.each([
  {
    place: 'the cluster',
    open: (instance: string): HistoryStore =>
      openClusterHistory(world.client, { instance, homeNamespace: 'default', limit: 4 }),
  },
  {
    place: 'PostgreSQL',
    open: (instance: string): HistoryStore => createHistory(pool, { instance, homeNamespace: 'default', limit: 4 }),
  },
])('in $place', ({ open }) => {
  test('the newest are given first, and the oldest go', async () => {
    const store = open('limited');
    expect(await store.latest(9)).toEqual([]);
    for (const index of [1, 2, 3, 4, 5, 6]) await store.append(small(index));
    expect((await store.latest(9)).map(({ id }) => id)).toEqual(['run-6', 'run-5', 'run-4', 'run-3']);
    expect(await store.latest(1)).toEqual([small(6)]);
    const changed = { ...small(5), state: 'succeeded' } as const;
    await store.replace(changed);
    await store.replace({ ...changed, id: 'run-1' });
    expect((await store.latest(9)).map(({ id, state }) => `${id} ${state}`)).toEqual([
      ...['run-6 failed', 'run-5 succeeded', 'run-4 failed', 'run-3 failed'],
    ]);
    expect(await open('other').latest(9)).toEqual([]);
  });

  test('runs of two processes at once are both kept', async () => {
    const indexes = [1, 2, 3, 4];
    await Promise.all(indexes.map((index) => open('shared').append(small(index))));
    const kept = (await open('shared').latest(9)).map(({ id }) => id).sort();
    expect(kept).toEqual(indexes.map((index) => `run-${index}`));
  });
});

test('in the cluster, large runs are packed, and as many of the newest are kept as there is room for', async () => {
  const store = openClusterHistory(world.client, { instance: 'large', homeNamespace: 'default', limit: 50 });
  for (let index = 1; index <= 24; index += 1) await store.append(large(index));
  const runs = await store.latest(50);
  expect(runs[0]).toEqual(large(24));
  expect(runs.length).toBeGreaterThan(4);
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps/skep-large-history');
  expect(JSON.stringify(body).length).toBeLessThan(1024 * 1024);
  expect(body.binaryData['runs.json.gz'].length).toBeGreaterThan(64 * 1024);
});

test('what a person has spoilt is no history, and the next run begins it anew', async () => {
  const store = openClusterHistory(world.client, { instance: 'large', homeNamespace: 'default', limit: 50 });
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'skep-large-history' };
  const stored = await world.client.get(id);
  if (stored === undefined) throw new Error('there is no history');
  await world.client.replace({ ...stored, data: {}, binaryData: { 'runs.json.gz': 'bm90IGd6aXA=' } });
  expect(await store.latest(50)).toEqual([]);
  await store.append(small(1));
  expect(await store.latest(50)).toEqual([small(1)]);
});
