// `skep run` beside servers that take a request and never answer it: a Git server, a registry API. What the other sources
// declare is applied all the same, and what the silent one declared last stays.

import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type GitServer, startGitServer, type TestRepository, temporaryFolder } from '../../harness/git-server.ts';
import { settingsOf } from '../../harness/instance.ts';
import { startProxy } from '../../harness/proxy.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { fleetFiles } from '../run/fleet.ts';
import { awaitRuns, type Keeper, startKeeper } from './keeper.ts';

let world: World;
let other: GitServer;
let team: TestRepository;
let keeper: Keeper | undefined;
let silent = false;
let held: ServerResponse[] = [];

beforeEach(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  other = await startGitServer({
    intercept(_request, response) {
      if (silent) held.push(response);
      return silent;
    },
  });
  team = other.createRepository('team.git');
});

afterEach(async () => {
  answerAgain();
  await keeper?.stop();
  keeper = undefined;
  await Promise.all([world.close(), other.close()]);
});

/** Whoever still waits is cut off. */
function answerAgain(): void {
  silent = false;
  for (const response of held) response.destroy();
  held = [];
}

function settings(name: string, value: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {value: ${value}}\n`;
}

async function start(changes: Readonly<Record<string, unknown>> = {}): Promise<Keeper> {
  keeper = await startKeeper(world, {
    schedule: '* * * * * *',
    sources: [
      { name: 'fleet', repository: `${world.git.url}/fleet.git`, branch: 'main', path: 'cluster' },
      { name: 'team', repository: `${other.url}/team.git`, branch: 'main', path: 'cluster' },
    ],
    ...changes,
  });
  return keeper;
}

async function settingOf(name: string): Promise<unknown> {
  const { body } = await world.cluster.send('GET', `/api/v1/namespaces/default/configmaps/${name}`);
  return (body as { data?: { value?: unknown } } | undefined)?.data?.value;
}

test('a Git server that falls silent delays nobody, its last commit is kept up, and its next one is applied', async () => {
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'one'), 'cluster/b.yaml': settings('b', 'one') });
  team.commit({ 'cluster/t.yaml': settings('t', 'one') });
  const running = await start();
  await running.said('ConfigMap/t created');
  silent = true;
  team.commit({ 'cluster/t.yaml': settings('t', 'two') });
  const from = running.output().length;
  await running.said('source-late: source team has not answered yet', from);
  // What was declared last is set right again, and what others declare is changed.
  await world.cluster.send('DELETE', '/api/v1/namespaces/default/configmaps/t');
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'two') });
  await running.said('ConfigMap/a configured', from);
  await running.said('ConfigMap/t created', from);
  expect(await settingOf('t')).toBe('one');
  // It may be that it has moved to the source of which no one knows what it declares now.
  world.fleet.commit({ 'cluster/b.yaml': undefined });
  await awaitRuns(running);
  expect(await settingOf('b')).toBe('one');
  const later = running.output().length;
  answerAgain();
  await running.said('ConfigMap/t configured', later);
  await running.said('ConfigMap/b deleted', later);
  expect(await settingOf('t')).toBe('two');
});

test('a Git server that is silent from the start delays only the first run, and not for long', async () => {
  silent = true;
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'one') });
  team.commit({ 'cluster/t.yaml': settings('t', 'one') });
  const running = await start();
  await running.said('ConfigMap/a created');
  await running.said('git-unreachable: source team has not answered within 10 s');
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'two') });
  await running.said('ConfigMap/a configured');
  answerAgain();
  await running.said('ConfigMap/t created');
});

test('a kind whose LIST gets no answer keeps only itself from being changed, deleted and reported', async () => {
  world.fleet.commit({ 'cluster/a.yaml': settings('a', 'one'), 'cluster/b.yaml': settings('b', 'one') });
  team.commit({ 'cluster/t.yaml': settings('t', 'one') });
  let isHanging = false;
  const proxy = await startProxy(world.cluster, ({ url, method }) =>
    isHanging && method === 'GET' && url.includes('/statefulsets') ? { hold: new Promise(() => undefined) } : 'pass',
  );
  try {
    const running = await start({ cluster: { kubeconfig: proxy.kubeconfigPath } });
    await running.said('ConfigMap/t created');
    isHanging = true;
    const from = running.output().length;
    world.fleet.commit({ 'cluster/a.yaml': settings('a', 'two'), ...fleetFiles({ wiki: '1.0.0' }) });
    await running.said('ConfigMap/a configured', from);
    await running.said('/statefulsets: no answer within 20000 ms', from);
    // It is known by now, and not waited for as long.
    const later = running.output().length;
    world.fleet.commit({ 'cluster/a.yaml': settings('a', 'three'), 'cluster/b.yaml': undefined });
    await running.said('ConfigMap/a configured', later);
    await running.said('ConfigMap/b deleted', later);
    expect(running.output().slice(later)).not.toContain('20000 ms');
  } finally {
    await keeper?.stop();
    keeper = undefined;
    void proxy.close();
  }
});

const REGISTRY = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/default/mcpregistries/catalogue';

test('registry APIs that are silent, however many, delay nobody, and their registry says that it is being synced', async () => {
  const requests: ServerResponse[] = [];
  const api = createServer((_request, response) => void requests.push(response));
  await new Promise<void>((listening) => api.listen(0, '127.0.0.1', () => listening()));
  const database: TestDatabase = await createTestDatabase();
  const folder = temporaryFolder();
  try {
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const registry = `apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata: {name: catalogue, namespace: default}
spec:
  registries:
${Array.from({ length: 6 }, (_, i) => `    - {name: upstream-${i}, format: upstream, api: {endpoint: '${url}/${i}'}, syncPolicy: {interval: 1h}}\n`).join('')}    - {name: own, configMapRef: {name: servers, key: servers.json}, syncPolicy: {interval: 1h}}
`;
    const servers = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: servers, namespace: default}\ndata: {servers.json: '{"servers": {}}'}\n`;
    world.fleet.commit({
      'cluster/r.yaml': registry,
      'cluster/s.yaml': servers,
      'cluster/a.yaml': settings('a', 'one'),
    });
    team.commit({ 'cluster/t.yaml': settings('t', 'one') });
    const running = await start({
      catalogue: { database: settingsOf(database, join(folder.path, 'pgpass')) },
    });
    await running.said('ConfigMap/a created');
    await running.said('registry default/catalogue/own: synced');
    expect(requests.length).toBeGreaterThan(0);
    world.fleet.commit({ 'cluster/a.yaml': settings('a', 'two') });
    await running.said('ConfigMap/a configured');
    // No one knows what it holds, and the other source of the registry is not kept from being read.
    const { body } = await world.cluster.send('GET', REGISTRY);
    expect(body.status.syncStatus.phase).toBe('Syncing');
  } finally {
    for (const response of requests) response.destroy();
    api.close();
    await keeper?.stop();
    keeper = undefined;
    await database.drop();
    folder.remove();
  }
});
