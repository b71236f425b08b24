// Suspended, or outside of its sync windows, an instance looks and writes nothing, and says so: `skep sync` by its exit
// code, `skep run` once.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { systemClock } from '#hosts/clock.ts';
import { resume, suspend } from '#reconciler/run/records/suspension.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish, versionsOf } from '../run/fleet.ts';
import { type Keeper, startKeeper } from './keeper.ts';

/** Every minute for an hour: always. */
const CLOSED = [{ deny: '* * * * *', hours: 1 }];
const HOME = { instance: 'test', homeNamespace: 'default' };

let world: World;
let folder: InstanceFolder;
let keeper: Keeper | undefined;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  folder = instanceFolder(world);
});

afterEach(async () => {
  await keeper?.stop();
  keeper = undefined;
  await resume({ cluster: world.client }, HOME);
});

afterAll(async () => {
  folder.remove();
  await world.close();
});

async function living(): Promise<Record<string, string | undefined>> {
  return versionsOf(await members(world.client, 'test'));
}

function suspended(reason?: string) {
  return suspend({ cluster: world.client, clock: systemClock }, HOME, { who: 'ops@host', reason });
}

test('a run of a suspended instance finds what is pending and writes nothing', async () => {
  publish(world.fleet, { one: '1.0.0' });
  await world.run();
  const before = await living();
  publish(world.fleet, { two: '1.0.0' });
  const suspension = await suspended('moving');
  const { paused, outcomes, plan } = await world.run();
  expect(paused).toEqual({ by: 'suspension', ...suspension });
  expect(outcomes).toEqual([]);
  expect(plan.batches.length).toBeGreaterThan(0);
  expect(await living()).toEqual(before);
  expect(await resume({ cluster: world.client }, HOME)).toEqual(suspension);
  expect((await world.run()).paused).toBeUndefined();
  expect(Object.keys(await living())).toContain('tools/MCPServer/two');
});

test('who suspends again gives another reason, or leaves it as the beginning is left', async () => {
  const first = await suspended('moving');
  const second = await suspended('still moving');
  expect(second).toEqual({ who: 'ops@host', since: first.since, reason: 'still moving' });
  expect(await suspended()).toEqual(second);
});

test('what somebody has written by hand into the ConfigMap suspends, too', async () => {
  await suspended('x');
  const path = '/api/v1/namespaces/default/configmaps/skep-test-suspension';
  const { body } = await world.cluster.send('GET', path);
  await world.cluster.send('PUT', path, { body: { ...body, data: { note: 'stop!' } } });
  expect((await world.run()).paused).toEqual({ by: 'suspension', who: 'unknown', since: 'unknown', reason: '' });
});

test('the commands: suspend says since when, sync what is pending and exits with 2, resume who it was', async () => {
  publish(world.fleet, { three: '1.0.0' });
  const before = await living();
  expect(await folder.run('suspend', '--reason', 'moving')).toMatchObject({ code: 0 });
  const { code, stdout } = await folder.run('sync');
  expect(code).toBe(2);
  expect(stdout).toMatch(/^nothing is written: suspended by \S+@\S+ since 20\S+Z: moving; to end that: \S.* resume$/m);
  expect(stdout).toMatch(/^pending: [1-9]\d* to create, 0 to update, [1-9]\d* to delete/m);
  expect(await living()).toEqual(before);
  expect((await folder.run('resume')).stdout).toMatch(
    /^test is resumed, and its next run writes again \(it was suspended by \S+ since 20\S+\)\n$/,
  );
  expect((await folder.run('resume')).stdout).toBe('test was not suspended: nothing changed\n');
});

test('outside of its windows a sync writes only where it is told to ignore them', async () => {
  publish(world.fleet, { four: '1.0.0' });
  folder.configure({ windows: CLOSED });
  const before = await living();
  const refused = await folder.run('sync', '-o', 'json');
  expect(refused.code).toBe(2);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    version: 1,
    paused: { by: 'window', window: 'deny "* * * * *" for 1 h (UTC)' },
    pending: { create: expect.any(Number) },
    outcomes: [],
  });
  expect(await living()).toEqual(before);
  expect(await folder.run('sync', '--ignore-windows')).toMatchObject({ code: 0 });
  expect(Object.keys(await living())).toContain('tools/MCPServer/four');
  folder.configure();
});

test('skep run says once why it writes nothing, and once that it does again', async () => {
  publish(world.fleet, { five: '1.0.0' });
  await suspended('moving');
  keeper = await startKeeper(world, { schedule: '* * * * * *' });
  await keeper.said('nothing is written: suspended by ops@host');
  const metrics = await (await fetch(`${keeper.url}/metrics`)).text();
  expect(metrics).toContain('skep_suspended 1\n');
  await resume({ cluster: world.client }, HOME);
  const text = await keeper.said('changes are made again');
  expect(text.split('nothing is written').length - 1).toBe(1);
});

test('a window that is no cron expression is told before anything starts', async () => {
  folder.configure({ windows: [{ allow: 'weekends', hours: 2 }] });
  const { code, stderr } = await folder.run('sync');
  expect(code).toBe(64);
  expect(stderr).toContain('"weekends" in time zone "UTC" is not a cron expression');
  folder.configure();
});
