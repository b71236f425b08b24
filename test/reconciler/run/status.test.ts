// How an instance is: told from Git, the cluster's lists and the history, with nothing running and nothing written.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonOfStatus, textOfStatus } from '#reconciler/report/status.ts';
import { type InstanceStatus, readInstanceStatus } from '#reconciler/run/operate/status.ts';
import { resume, suspend } from '#reconciler/run/records/suspension.ts';
import { Failure } from '#std/failure.ts';
import { INSTALLED } from '#std/words/command-of.ts';
import { timeAgo } from '#std/words/time-text.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { expectOutput } from '../../harness/outputs.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from './fleet.ts';

const HOME = { instance: 'test', homeNamespace: 'default' };

let world: World;
let folder: InstanceFolder;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
  folder = instanceFolder(world);
  folder.configure({ apply: { maxDeletes: 0, maxDeletesPercent: 100, waitSeconds: 0 } });
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
    readInstanceStatus({ ...instance.deps, history: await instance.history.latest(50) }, instance.options(), undefined),
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
  const text = textOfStatus(status, undefined, INSTALLED);
  expect(text).toMatch(/^test: \d+ out of sync\nsource fleet at [0-9a-f]{40}\nout of sync:\n/);
  expect(text).toMatch(/\n {2}\+ tools\/MCPServer\/clock, and \d objects made of it\n/);
  expect(text).not.toContain('Deployment');
  expect(text).toContain('no run has been recorded yet\nno run is under way\n');
});

test('what its resources say is told, with the messages of their conditions', async () => {
  await run();
  const status = await look();
  expect([status.outOfSync, status.uncertain, status.held]).toEqual([[], [], []]);
  expect(status.lastRun?.state).toBe('progressing');
  const clock = status.troubled.find(({ resource }) => resource === 'tools/MCPServer/clock');
  expect(clock).toMatchObject({ phase: 'Pending', conditions: [{ type: 'Ready', status: 'False' }] });
  const [condition] = clock?.conditions ?? [];
  expect(textOfStatus(status, undefined, INSTALLED)).toContain(
    `tools/MCPServer/clock is Pending\n      ${condition?.reason}: ${condition?.message} (since ${condition?.since})`,
  );
});

test('what is held, waits or is wrong says since when, also after later runs', async () => {
  world.fleet.commit({ 'cluster/news.yaml': undefined, 'cluster/clock.yaml': brokenServer('clock') });
  const { finishedAt: since } = await run();
  world.fleet.commit({ 'README.md': 'another commit\n' });
  await run();
  const status = await look();
  const [approval] = status.approvals;
  expect(approval).toMatchObject({ since, deletions: expect.arrayContaining(['tools/MCPServer/news']) });
  expect(status.problems).toMatchObject([{ code: 'schema-enum', since }]);
  expect(status.held.map((each) => each.since)).toEqual(status.held.map(() => since));
  const text = textOfStatus(status, { id: 'x', finishedAt: '2026-01-01T00:00:00Z' }, INSTALLED);
  const fault = 'tools/MCPServer/clock is invalid: it may be the new name of an object that would be deleted';
  const reason = `${fault}; 1 deletion, more than apply.maxDeletes allows (0)`;
  const action = `to delete exactly these: skep approve ${approval?.hash}`;
  const made = approval?.following.length;
  expect(text).toContain(
    `deletions of source fleet wait for approval (since ${since}): ${reason}:\n  - tools/MCPServer/news\n  and ${made} objects made of them\n  ${action}\n`,
  );
  expect(text).toMatch(/^test: 1 problem, \d+ deletions wait for approval, \d+ held, /);
  expect(text).toContain('last run on this machine: at 2026-01-01T00:00:00Z');
  const later = timeAgo(Date.parse(since) + 185_000);
  const shown = textOfStatus(status, { id: 'x', finishedAt: since }, INSTALLED, later);
  expect(shown).toContain(`wait for approval (since 3 min ago): ${reason}:\n`);
  expect(shown).toContain('last run on this machine: 3 min ago\n');
  expect(shown).not.toContain(since);
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
  expect(stdout).toMatch(/^test: suspended, /);
  expect(stdout).toContain('nothing is written: suspended by ada since ');
  expect(stdout).toContain('run run-7 ended without releasing the lock, last renewed at 2026-01-01T00:00:00.000000Z\n');
  const plan = await folder.run('plan');
  expect(plan).toMatchObject({ stdout: expect.stringContaining('runs write nothing now: suspended by ada ') });
  await folder.use((instance) => resume(instance.deps, HOME));
});

test('where the cluster is away it says so, in JSON too, and what else is known', async () => {
  const kubeconfig = join(folder.dir, 'away');
  const text = readFileSync(world.cluster.kubeconfigPath, 'utf8');
  writeFileSync(kubeconfig, text.replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:1'));
  const { stdout, code } = await folder.run('status', '-o', 'json', '--kubeconfig', kubeconfig);
  expect(code).toBe(1);
  const status = JSON.parse(stdout);
  expectOutput('status', stdout);
  expect(status).toMatchObject({ reached: false, verdict: 'nothing is known: cluster-unreachable', lastRun: null });
  expect(status.failures).toMatchObject([{ code: 'cluster-unreachable' }]);
  expect(status.lastLook?.finishedAt).toBeDefined();
});

const calm: InstanceStatus = {
  instance: 'test',
  at: '2026-01-01T00:00:00.000Z',
  reached: true,
  commits: {},
  quarantined: [],
  waits: [],
  outOfSync: [],
  uncertain: [],
  fields: [],
  held: [],
  approvals: [],
  problems: [],
  failures: [],
  resources: { ready: 2, total: 2 },
  troubled: [],
};
const problem = { code: 'schema-enum', severity: 'error', message: 'no', pointer: '' } as const;
const update = { action: 'update', resource: 'a/MCPServer/b', fields: ['spec.image'] } as const;

test.each([
  { reason: 'all is well', changes: {}, first: 'in sync' },
  { reason: 'a manifest is invalid', changes: { problems: [problem] }, first: '1 problem, otherwise in sync' },
  {
    reason: 'another manager keeps a field',
    changes: { fields: [{ resource: 'a/MCPServer/b', path: '/spec/image', manager: 'kubectl-edit', state: 'kept' }] },
    first: '1 field differs',
  },
  {
    reason: 'a field is left to another manager',
    changes: { fields: [{ resource: 'a/MCPServer/b', path: '/spec/image', manager: 'kubectl-edit', state: 'left' }] },
    first: 'in sync',
  },
  { reason: 'something differs', changes: { outOfSync: [update] }, first: '1 out of sync' },
  { reason: 'something is uncertain', changes: { uncertain: ['a/MCPServer/b'] }, first: '1 may differ' },
  {
    reason: 'a source is away',
    changes: {
      failures: [new Failure('git-unreachable', 'no')],
      held: [{ resource: 'a/MCPServer/b', reason: 'source fleet: it could not be read' }],
    },
    first: '1 could not be read, 1 held',
  },
  {
    reason: 'it is outside of its windows and rolled back',
    changes: {
      paused: { by: 'window', window: 'deny 0 0 * * *' },
      quarantined: [{ source: 'fleet', good: 'a', bad: 'b', older: [], run: 'r', since: '' }],
    },
    first: 'outside its sync windows, fleet rolled back, in sync',
  },
] as const)('the first line where $reason', ({ changes, first }) => {
  const [line] = textOfStatus({ ...calm, ...changes }, undefined, INSTALLED).split('\n');
  expect(line).toBe(`test: ${first}`);
});

test('long lists are cut, and nothing of others looks like a line of ours or moves the cursor', () => {
  const held = Array.from({ length: 5000 }, (_none, index) => ({
    resource: `a/ConfigMap/c${index}`,
    reason: 'why\nnot',
  }));
  const outOfSync = Array.from({ length: 5000 }, (_none, index) => ({ ...update, resource: `a/MCPServer/s${index}` }));
  const said = { type: 'Ready', status: 'False', reason: 'Bad', message: 'no\n\u001b[2Kin sync\nno run is under way' };
  const troubled = [{ resource: 'a/MCPServer/b', conditions: [said] }];
  const text = textOfStatus({ ...calm, held, outOfSync, troubled }, undefined, INSTALLED);
  expect(text.split('\n').length).toBeLessThan(40);
  expect(text).toContain('  why not: a/ConfigMap/c0, a/ConfigMap/c1, a/ConfigMap/c2 and 4997 more\n');
  expect(text).toContain('  ~ a/MCPServer/s0: spec.image\n');
  expect(text).toContain('  and 4980 more; to see all, add -o json\n');
  expect(text).toContain('      Bad: no \\u001b[2Kin sync no run is under way\n');
});
