// How an instance is: told from Git, the cluster's lists and the history, with nothing running and nothing written.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstanceStatus, statusOf } from '../../src/reconcile/status.ts';
import { resume, suspend } from '../../src/reconcile/suspension.ts';
import { jsonOfStatus, textOfStatus } from '../../src/report/status.ts';
import { type InstanceFolder, instanceFolder } from '../harness/instance.ts';
import { expectOutput } from '../harness/outputs.ts';
import { startWorld, type World } from '../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };

let world: World;
let folder: InstanceFolder;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
  folder = instanceFolder(world);
  folder.configure({ apply: { conflicts: 'force', maxDeletes: 0, maxDeletesPercent: 100, waitSeconds: 0 } });
});

afterAll(async () => {
  await world.close();
  folder.remove();
});

/** With a check that it wrote nothing and asked for nothing but lists and single records. */
async function look(): Promise<InstanceStatus> {
  const { cluster } = world.cluster;
  cluster.resetCounters();
  const status = await folder.use(async (instance) =>
    statusOf({ ...instance.deps, history: await instance.history.latest(50) }, instance.options(), undefined),
  );
  const { writes, dryRuns, requests } = cluster.counters();
  expect([writes, dryRuns, Object.keys(requests).sort()]).toEqual([{}, {}, ['get', 'list']]);
  expectOutput('status', jsonOfStatus(status, { id: 'run', finishedAt: status.at }));
  return status;
}

function run() {
  return folder.use((instance) => instance.run());
}

test('before the first run everything is out of sync', async () => {
  world.fleet.commit(fleetFiles({ clock: '1.0.0', news: '1.0.0' }));
  const status = await look();
  expect(status.outOfSync).toContainEqual({ action: 'create', resource: 'tools/MCPServer/clock' });
  const text = textOfStatus(status, undefined);
  expect(text).toMatch(/^test: \d+ out of sync\nsource fleet at [0-9a-f]{40}\nout of sync:\n/);
  expect(text).toContain('no run has been recorded yet\nno run is writing\n');
});

test('what its resources say is told, with the messages of their conditions', async () => {
  await run();
  const status = await look();
  expect([status.outOfSync, status.uncertain, status.held]).toEqual([[], [], []]);
  expect(status.lastRun?.state).toBe('progressing');
  const clock = status.troubled.find(({ resource }) => resource === 'tools/MCPServer/clock');
  expect(clock).toMatchObject({ phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }] });
  const [condition] = clock?.conditions ?? [];
  expect(textOfStatus(status, undefined)).toContain(
    `tools/MCPServer/clock is Pending\n      ${condition?.reason}: ${condition?.message} (since ${condition?.since})`,
  );
});

test('what is held, waits or is wrong says since when, also after later runs', async () => {
  world.fleet.commit({ 'cluster/news.yaml': undefined, 'cluster/clock.yaml': brokenServer('clock') });
  const { finishedAt: since } = await run();
  world.fleet.commit({ 'README.md': 'another commit\n' });
  await run();
  const status = await look();
  expect(status.approval).toMatchObject({ since, deletions: expect.arrayContaining(['tools/MCPServer/news']) });
  expect(status.problems).toMatchObject([{ code: 'schema-enum', since }]);
  expect(status.held.map((each) => each.since)).toEqual(status.held.map(() => since));
  const text = textOfStatus(status, { id: 'x', finishedAt: '2026-01-01T00:00:00Z' });
  expect(text).toContain(`deletions wait for approval (since ${since}): skep approve ${status.approval?.hash}:\n  - `);
  expect(text).toContain('last run from here: at 2026-01-01T00:00:00Z');
});

function brokenServer(name: string): string {
  return (fleetFiles({ [name]: '1.0.0' })[`cluster/${name}.yaml`] ?? '').replace(
    'transport: stdio',
    'transport: pigeon',
  );
}

test('who works on it, and what keeps it from working', async () => {
  const spec = { holderIdentity: 'run-7', renewTime: '2026-01-01T00:00:00.000000Z', leaseDurationSeconds: 15 };
  const id = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'default', name: 'skep-test' };
  const lease = await world.client.get(id);
  if (lease === undefined) throw new Error('there is no lease');
  await world.client.replace({ ...lease, spec });
  await folder.use((instance) => suspend(instance.deps, HOME, { who: 'ada', reason: 'moving the database' }));
  const { stdout, code } = await folder.run('status');
  expect(code).toBe(0);
  expect(stdout).toContain('nothing is written: suspended by ada since ');
  expect(stdout).toContain('run run-7 has the lock, renewed at 2026-01-01T00:00:00.000000Z\n');
  await folder.use((instance) => resume(instance.deps, HOME));
});
