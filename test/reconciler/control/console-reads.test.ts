// What open consoles cost the cluster and the runs: a resource is read once for all who open it, and no read counts as one of a
// run.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '#hosts/config/read-config.ts';
import { withoutConsoleReads } from '#hosts/reconciler/console/console-reads.ts';
import { type FleetFeed, openFleetFeed } from '#hosts/reconciler/console/fleet.ts';
import { shareReads } from '#hosts/reconciler/console/shared-reads.ts';
import { type Instance, openInstance } from '#hosts/reconciler/instance/instance.ts';
import { eventually } from '../../harness/cluster.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from '../run/fleet.ts';

const CLOCK = 'tools/MCPServer/clock';
const folder = temporaryFolder();
let world: World;
let instance: Instance;
let feed: FleetFeed;
/** Number of requests that count as progress of a run. */
let progress = 0;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  world.fleet.commit(fleetFiles({ clock: '1.0.0' }));
  const settings = {
    name: 'test',
    sources: [{ name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' }],
    cluster: { kubeconfig: world.cluster.kubeconfigPath },
    images: { proxy: 'proxy:1', vmcp: 'vmcp:1', registry: 'registry:1' },
    outbound: { allowPrivate: ['127.0.0.0/8'] },
    stateDir: join(folder.path, 'state'),
  };
  const config = readConfig({ text: JSON.stringify(settings), file: 'skep.yaml', environment: {} });
  feed = openFleetFeed(config, () => undefined);
  const ignore = (): void => undefined;
  const fail = (error: unknown): void => {
    throw error;
  };
  const keepsLists = { changed: ignore, lost: ignore, missed: ignore, say: ignore, fail };
  const requested = withoutConsoleReads(() => {
    progress += 1;
  });
  instance = await openInstance(config, ignore, { looked: feed.looked, requested }, undefined, { keepsLists });
  await eventually(
    async () => {
      feed.ended(await instance.run({ waitSeconds: 0 }));
      return instance.repeat('probe');
    },
    (known) => known !== undefined,
  );
});

afterAll(async () => {
  await instance.close();
  await world.close();
  folder.remove();
});

test('a run that would do nothing is left out, and costs no more, after someone has opened a resource', async () => {
  const before = (await instance.repeat('probe'))?.requests;
  const fleet = feed.shown(instance);
  expect(JSON.parse((await fleet.resource(CLOCK)) ?? '{}')).toMatchObject({ resource: CLOCK, omitted: 0 });
  world.cluster.cluster.faults.add({ match: { verb: 'get', resource: 'statefulsets' }, action: { status: 403 } });
  expect(JSON.parse((await fleet.resource(CLOCK)) ?? '{}').unread).toBeDefined();
  world.cluster.cluster.faults.clear();
  expect((await instance.repeat('probe'))?.requests).toBe(before);
});

test('a hundred who open a resource at once cost the cluster as much as one', async () => {
  const fleet = feed.shown(instance);
  const requestsFor = async (readers: number) => {
    const before = instance.deps.cluster.requests();
    const texts = await Promise.all(Array.from({ length: readers }, () => fleet.resource(CLOCK)));
    expect(new Set(texts).size).toBe(1);
    return instance.deps.cluster.requests() - before;
  };
  const one = await requestsFor(1);
  expect(one).toBeGreaterThan(3);
  expect(await requestsFor(100)).toBe(one);
});

test('a resource that someone opens is not progress of a run, which may be stuck meanwhile', async () => {
  const before = [progress, instance.deps.cluster.requests()];
  expect(JSON.parse((await feed.shown(instance).resource(CLOCK)) ?? '{}').unread).toBeUndefined();
  expect(instance.deps.cluster.requests()).toBeGreaterThan(before[1] ?? Infinity);
  expect(progress).toBe(before[0]);
  await instance.run({ waitSeconds: 0 });
  expect(progress).toBeGreaterThan(before[0] ?? Infinity);
});

test('few resources are read at a time, and none that nobody waits for any more', async () => {
  const sleepers: (() => void)[] = [];
  let now = 0;
  const sleep = () => new Promise<void>((wake) => void sleepers.push(wake));
  const readInTurn = shareReads<string>({ monotonic: () => now, sleep }, 10);
  const begun: (() => void)[] = [];
  const readings = Array.from({ length: 50 }, (_, index) =>
    readInTurn(`resource ${index}`, () => new Promise<string>((end) => void begun.push(() => end('read')))),
  );
  await expect.poll(() => begun.length).toBe(4);
  now = 10;
  for (const wake of sleepers) wake();
  expect(await Promise.all(readings)).toEqual(Array(50).fill(undefined));
  for (const end of begun) end();
  expect(await readInTurn('next', async () => 'read')).toBe('read');
  expect(begun).toHaveLength(4);
});
