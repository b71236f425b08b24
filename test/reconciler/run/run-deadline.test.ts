// Runs that something does not answer: they end at their deadline, say what was not reached and keep what there is, and the next run
// goes on there.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer, type TestRepository } from '../../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { type Passing, startProxy, type TestProxy } from '../../harness/proxy.ts';
import { startWorld, type World } from '../../harness/world.ts';

const MAPS = 48;
let world: World;
let git: GitServer;
let silentGit: TestRepository;
let proxy: TestProxy;
let folder: InstanceFolder;
let isSilent = false;
/** What gets no answer. */
let hangs: (passing: Passing) => boolean = () => false;
const never = new Promise<never>(() => undefined);

beforeAll(async () => {
  world = await startWorld();
  git = await startGitServer({ intercept: () => isSilent });
  silentGit = git.createRepository('silent.git');
  proxy = await startProxy(world.cluster, (passing) => (hangs(passing) ? { hold: never } : 'pass'));
  folder = instanceFolder(world);
  publish(1);
  silentGit.commit({ 'cluster/of-silent.yaml': map('of-silent', 1) });
});
afterEach(() => {
  hangs = () => false;
  isSilent = false;
});
afterAll(async () => {
  folder.remove();
  await Promise.all([world.close(), git.close()]);
  void proxy.close();
});

function map(name: string, value: number): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {k: '${value}'}\n`;
}

/** Many maps, and what comes in a batch before them. */
function publish(value: number): void {
  const account = `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: account-${value}, namespace: default}\n`;
  const maps = Array.from({ length: MAPS }, (_, n) => map(`map-${n}`, value));
  world.fleet.commit({ 'cluster/all.yaml': [account, ...maps].join('---\n') });
}

function configure(deadlineSeconds: number, changes: Readonly<Record<string, unknown>> = {}): void {
  folder.configure({
    cluster: { kubeconfig: proxy.kubeconfigPath },
    apply: { waitSeconds: 0, deadlineSeconds, maxDeletes: 1000, maxDeletesPercent: 100 },
    schedule: '* * * * * *',
    jitterSeconds: 0,
    ...changes,
  });
}

/** How many of the maps have the value. */
async function applied(value: number): Promise<number> {
  const { body } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps');
  const items: { metadata: { name: string }; data?: { k?: string } }[] = body.items;
  return items.filter(({ metadata, data }) => metadata.name.startsWith('map-') && data?.k === String(value)).length;
}

/** Three rounds of requests that a minute each was waited for would take so long; what is busy with the machine does not. */
const ROUNDS_MS = 150_000;

async function timed(...args: readonly string[]) {
  const startedAt = performance.now();
  const finished = await folder.run(...args);
  expect(performance.now() - startedAt).toBeLessThan(ROUNDS_MS / 2);
  return finished;
}

const isChange = ({ label, isWrite, isDryRun }: Passing) => isWrite && !isDryRun && label === 'PATCH configmaps';

test('where changes get no answer a run ends, names them, deletes nothing, and the next run makes them', async () => {
  configure(600);
  expect((await timed('sync')).code).toBe(0);
  expect(await applied(1)).toBe(MAPS);
  publish(2);
  configure(20);
  hangs = (passing) => isChange(passing) && passing.body.includes('"map-');
  const { code, stdout, stderr } = await timed('sync');
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(
    /run-deadline: run \S+ has reached its deadline \(apply\.deadlineSeconds: 20\), and \d+ changes were not begun: default\/ConfigMap\/map-\d+, .* and \d+ more; the next run continues there/,
  );
  expect(stdout).toMatch(/no answer within \d+ ms/);
  expect(stdout).toContain('[cluster-deadline]');
  expect(await applied(1)).toBe(MAPS);
  hangs = () => false;
  configure(600);
  expect((await timed('sync')).code).toBe(0);
  expect(await applied(2)).toBe(MAPS);
});

test('a process that stays begins the next run, which goes on where the last one has ended', async () => {
  publish(3);
  configure(2);
  hangs = (passing) => isChange(passing) && passing.body.includes('"map-');
  const running = folder.start('run');
  await running.printed('run-deadline');
  hangs = () => false;
  await expect.poll(() => applied(3)).toBe(MAPS);
  running.kill('SIGTERM');
  await running.finished;
});

test('where every look at the cluster gets no answer a run ends, and says which', async () => {
  publish(4);
  configure(2);
  hangs = ({ method, url }) => method === 'GET' && url.includes('limit=');
  const { code, stdout, stderr } = await timed('sync');
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/\/api\/v1\/serviceaccounts: no answer within|not asked any more/);
  expect(await applied(3)).toBe(MAPS);
});

test('a Git server that is silent leaves the others most of the run, and keeps what it declared', async () => {
  const sources = ['fleet', 'silent'].map((name) => ({
    name,
    repository: `${name === 'fleet' ? world.git.url : git.url}/${name}.git`,
    branch: 'main',
    path: 'cluster',
  }));
  configure(600, { sources });
  expect((await timed('sync')).code).toBe(0);
  publish(5);
  silentGit.commit({ 'cluster/of-silent.yaml': map('of-other', 1) });
  isSilent = true;
  configure(20, { sources });
  const { code, stdout, stderr } = await timed('sync');
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('source silent has not answered')]);
  expect(await applied(5)).toBe(MAPS);
  const { status } = await world.cluster.send('GET', '/api/v1/namespaces/default/configmaps/of-silent');
  expect(status).toBe(200);
  // A plan waits as long as a sync does.
  const planned = await timed('plan');
  expect([planned.code, planned.stdout + planned.stderr]).toEqual([
    1,
    expect.stringContaining('source silent has not answered within 10 s'),
  ]);
});

test('`plan` ends at the same time, and says what it could not ask', async () => {
  publish(6);
  configure(15);
  hangs = ({ isDryRun }) => isDryRun;
  const { code, stdout, stderr } = await timed('plan');
  expect([code, stdout + stderr]).toEqual([
    1,
    expect.stringMatching(
      /not asked any more: .*; there was no answer to PATCH \/api\/v1\/namespaces\/default\/.*, PATCH .* and \d+ more/,
    ),
  ]);
});
