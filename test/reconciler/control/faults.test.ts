// `skep run` while the world fails: it keeps running, tells each trouble once when it begins and once when it is over, and
// ends well in the middle of a run.

import { renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../harness/cluster.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members, publish } from '../run/fleet.ts';
import { awaitRuns, type Keeper, startKeeper } from './keeper.ts';

let world: World;
let keepers: Keeper[] = [];

beforeEach(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
});

afterEach(async () => {
  world.cluster.cluster.faults.clear();
  for (const each of keepers) await each.stop();
  keepers = [];
  await world.close();
});

async function start(changes: Readonly<Record<string, unknown>> = {}): Promise<Keeper> {
  const keeper = await startKeeper(world, { schedule: '* * * * * *', ...changes });
  keepers.push(keeper);
  return keeper;
}

async function status(keeper: Keeper, path: string): Promise<number> {
  return (await fetch(`${keeper.url}${path}`)).status;
}

function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

test('a repository that is away, and one that is back', async () => {
  publish(world.fleet, { one: '1.0.0' });
  const keeper = await start();
  await keeper.said('tools/MCPServer/one created');
  await eventually(
    () => status(keeper, '/readiness'),
    (code) => code === 200,
  );
  renameSync(world.fleet.dir, `${world.fleet.dir}.gone`);
  const from = keeper.output().length;
  await keeper.said('error git-', from);
  await awaitRuns(keeper);
  expect(times(keeper.output().slice(from), 'error git-')).toBe(1);
  expect(await status(keeper, '/readiness')).toBe(503);
  expect(await status(keeper, '/health')).toBe(200);
  renameSync(`${world.fleet.dir}.gone`, world.fleet.dir);
  await keeper.said('no problems any more', from);
  expect(await status(keeper, '/readiness')).toBe(200);
  expect([...(await members(world.client, 'test')).keys()]).toContain('tools/MCPServer/one');
});

test('a cluster that is away, and one that is back', async () => {
  publish(world.fleet, { one: '1.0.0' });
  const keeper = await start();
  await keeper.said('tools/MCPServer/one created');
  const from = keeper.output().length;
  world.cluster.cluster.faults.add({ match: {}, action: { status: 401 } });
  await keeper.said('error cluster-unauthorized', from);
  await awaitRuns(keeper);
  // The run that met it first may have asked for something else.
  const lines = keeper.output().slice(from).split('\n');
  const reported = lines.filter((line) => line.includes('error cluster-unauthorized'));
  expect(reported.length).toBe(new Set(reported.map((line) => line.replace(/^.*error/, 'error'))).size);
  expect(await status(keeper, '/readiness')).toBe(503);
  world.cluster.cluster.faults.clear();
  await keeper.said('no more cluster-unauthorized', from);
  expect(await status(keeper, '/readiness')).toBe(200);
});

test('a database that is away keeps nothing from being kept', async () => {
  publish(world.fleet, { one: '1.0.0' });
  const database = { host: '127.0.0.1', port: 1, user: 'x', database: 'x', sslMode: 'disable' };
  const keeper = await start({ catalogue: { database } });
  await keeper.said('tools/MCPServer/one created');
  await awaitRuns(keeper);
  publish(world.fleet, { one: '1.0.0', two: '1.0.0' });
  await keeper.said('tools/MCPServer/two created');
  expect(await status(keeper, '/health')).toBe(200);
});

interface Lease {
  readonly spec: { readonly holderIdentity: string };
}

async function holder(): Promise<string> {
  const { body } = await world.cluster.send('GET', '/apis/coordination.k8s.io/v1/namespaces/default/leases/skep-test');
  return (body as Lease | undefined)?.spec?.holderIdentity ?? '';
}

test('told to stop in the middle of a run, it finishes what was sent, gives the lease back, and the next one goes on', async () => {
  const servers = Object.fromEntries(Array.from({ length: 12 }, (_none, index) => [`s${index}`, '1.0.0']));
  publish(world.fleet, servers);
  world.cluster.cluster.faults.add({ match: { verb: 'apply' }, action: { delayMs: 150 } });
  const keeper = await start({ schedule: '0 0 0 29 2 *' });
  await keeper.said(' created');
  expect(await holder()).not.toBe('');
  await keeper.stop();
  expect(await keeper.ended).toBe(true);
  expect(await holder()).toBe('');
  expect(keeper.output()).toContain('[run-stopped]');
  const before = (await members(world.client, 'test')).size;
  world.cluster.cluster.faults.clear();
  const { outcomes } = await world.run();
  expect(outcomes.every(({ action }) => action === 'created' || action === 'configured')).toBe(true);
  expect((await members(world.client, 'test')).size).toBeGreaterThan(before);
});

test('a second one says once that another is at work, and takes over when that ends', async () => {
  publish(world.fleet, { one: '1.0.0' });
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'mcpservers' },
    action: { delayMs: 9000 },
    times: 1,
  });
  const first = await start({ schedule: '0 0 0 29 2 *' });
  await eventually(holder, (name) => name !== '');
  const second = await start();
  await second.said('error locked: another run of this instance, ');
  expect(await status(second, '/readiness')).toBe(200);
  await second.said('no more locked');
  expect(times(second.output(), 'error locked')).toBe(1);
  expect(first.output()).toContain('tools/MCPServer/one created');
});
