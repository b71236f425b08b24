// Servers that are silent: what an operator asks is answered in time, and says what was not reached.

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer, type TestRepository } from '../../harness/git-server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { startProxy, type TestProxy } from '../../harness/proxy.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { publish } from './fleet.ts';

let world: World;
let git: GitServer;
let fleet: TestRepository;
let proxy: TestProxy;
let folder: InstanceFolder;
let silentGit = false;
/** A part of the URLs that get no answer. */
let silent: string | undefined;
const never = new Promise<never>(() => undefined);

beforeAll(async () => {
  world = await startWorld();
  git = await startGitServer({ intercept: () => silentGit });
  fleet = git.createRepository('own.git');
  proxy = await startProxy(world.cluster, ({ url }) =>
    silent !== undefined && url.includes(silent) ? { hold: never } : 'pass',
  );
  folder = instanceFolder(world);
  folder.configure({
    sources: [{ name: 'fleet', repository: `${git.url}/own.git`, branch: 'main', path: 'cluster' }],
    cluster: { kubeconfig: proxy.kubeconfigPath, timeoutSeconds: 10 },
    apply: { waitSeconds: 0 },
    snapshot: { file: snapshotFile() },
  });
  publish(fleet, { wiki: '1.0.0' });
  await folder.use((instance) => instance.run());
  publish(fleet, { wiki: '2.0.0' });
});
afterEach(() => {
  silent = undefined;
  silentGit = false;
});
afterAll(async () => {
  folder.remove();
  await Promise.all([world.close(), git.close()]);
  void proxy.close();
});

function snapshotFile(): string {
  return join(folder.dir, 'state.json');
}

/** The time is the machine's, too: what counts is that no time limit of a minute is waited for. */
const MINUTE_MS = 60_000;

async function timed(...args: readonly string[]) {
  const startedAt = performance.now();
  const { code, stdout, stderr } = await folder.run(...args);
  expect(performance.now() - startedAt).toBeLessThan(MINUTE_MS / 2);
  return { code, stdout, stderr };
}

test('`status` answers where one LIST gets no answer, and names its URL', async () => {
  silent = '/apis/apps/v1/statefulsets';
  const { code, stdout } = await timed('status');
  expect(code).toBe(1);
  expect(stdout).toContain('/apis/apps/v1/statefulsets');
  expect(stdout).toMatch(/1 could not be read/);
});

test('`status` answers where the Git server is silent, and names the source', async () => {
  silentGit = true;
  const { code, stdout } = await timed('status');
  expect(code).toBe(1);
  expect(stdout).toContain('git-unreachable: source fleet has not answered within 3 s');
  expect(stdout).not.toContain('nothing is known');
});

test('`plan --against` answers where the Git server is silent, and names the source', async () => {
  silentGit = true;
  const { code, stdout, stderr } = await timed('plan', '--against', snapshotFile());
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/source fleet has not answered within \d+ s \(cluster.timeoutSeconds\)/);
});

test('`plan --against` answers where who publishes the snapshot is silent, and names its URL', async () => {
  silentGit = true;
  const { code, stderr } = await timed('plan', '--against', `${git.url}/snapshot`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/\/snapshot has not answered within \d+ s \(cluster.timeoutSeconds\)/);
});

test.each([['history'], ['suspend', '--reason', 'x'], ['resume'], ['approve', 'abc'], ['trigger', 'tools/catalogue']])(
  '`%s` ends with 1 where the API server is silent, and says so',
  async (...args) => {
    silent = '/';
    const { code, stderr } = await timed(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/no answer within/);
  },
);
