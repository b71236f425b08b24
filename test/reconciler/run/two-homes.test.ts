// Two instances of one name in different homes on one cluster: they write under the same field manager, and what tells them
// apart is the set that an object is in. Neither takes, rewrites or deletes what the other one keeps.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER, PART_OF } from '#reconciler/run/labels.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';

type Home = 'kube-public' | 'kube-system';

let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});
afterAll(() => world.close());

/** One instance for each home, both of the same name; each reads the folder that is called like its home. */
function runOf(homeNamespace: Home, overrides: WorldOverrides = {}): Promise<RunResult> {
  return world.run({
    homeNamespace,
    waitSeconds: 0,
    limits: { maxDeletes: 1_000, maxDeletesPercent: 100 },
    sources: (fleet) => [{ ...fleet, path: homeNamespace }],
    ...overrides,
  });
}

function server(name: string, namespace: string): string {
  const metadata = `{name: ${name}, namespace: ${namespace}}`;
  return `apiVersion: toolhive.stacklok.dev/v1alpha1\nkind: MCPServer\nmetadata: ${metadata}\nspec: {image: 'images.example.com/a:1', transport: stdio}\n`;
}

function namespaced(name: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;
}

function map(name: string, value = 'v'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {k: ${value}}\n`;
}

interface Found {
  readonly id: string;
  readonly set?: string;
  readonly uid?: string;
  readonly version?: string;
}

/** What exists in a namespace of what an instance may have made. */
async function living(namespace: string): Promise<readonly Found[]> {
  const resources = (await world.client.resources()).filter(({ verbs }) => verbs.includes('list'));
  const lists = await Promise.all(resources.map((each) => world.client.list(each)));
  const found = lists.flat().filter(({ metadata }) => metadata.namespace === namespace);
  return found
    .filter(({ metadata: { labels } }) => labels?.[PART_OF] !== undefined || labels?.[OWNER] !== undefined)
    .map(({ kind, metadata: { name, uid, resourceVersion, labels } }) => ({
      id: `${kind}/${name}`,
      set: labels?.[PART_OF],
      uid,
      version: resourceVersion,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** What an instance has written of objects; its own records do not count. */
function written({ outcomes }: RunResult): readonly string[] {
  return outcomes
    .filter(({ action }) => action !== 'held')
    .map(({ action, resource }) => `${action} ${resource.kind}/${resource.name}`);
}

test('what one declares is no resource made by hand for the other, whose children would take the place of its children', async () => {
  const namespace = 'declared';
  world.fleet.commit({
    'kube-public/own.yaml': `${namespaced(namespace)}---\n${server('wiki', namespace)}`,
    'kube-system/own.yaml': map('of-system'),
  });
  await runOf('kube-public');
  const before = await living(namespace);
  expect(before.length).toBeGreaterThan(3);
  await runOf('kube-system', { scope: 'cluster' });
  expect(await living(namespace)).toEqual(before);
  const again = await runOf('kube-public');
  expect([written(again), await living(namespace)]).toEqual([[], before]);
});

test('of a resource made by hand one makes the children, and the other says who does and writes nothing', async () => {
  const namespace = 'hand';
  world.fleet.commit({ 'kube-public/own.yaml': namespaced(namespace), 'kube-system/own.yaml': map('of-system') });
  await runOf('kube-public');
  const path = `/apis/toolhive.stacklok.dev/v1alpha1/namespaces/${namespace}/mcpservers`;
  const spec = { image: 'images.example.com/a:1', transport: 'stdio' };
  await world.cluster.send('POST', path, {
    body: { apiVersion: 'toolhive.stacklok.dev/v1alpha1', kind: 'MCPServer', metadata: { name: 'chat' }, spec },
  });
  await runOf('kube-public', { scope: 'cluster' });
  const resource = async () => (await world.cluster.send('GET', `${path}/chat`)).body.metadata.resourceVersion;
  const before = await living(namespace);
  const version = await resource();
  expect(before.length).toBeGreaterThan(3);
  const other = await runOf('kube-system', { scope: 'cluster' });
  expect(other.problems.map(({ code }) => code)).toContain('child-foreign');
  expect(other.problems.map(({ message }) => message).join()).toContain('another instance keeps');
  expect(await living(namespace)).toEqual(before);
  expect(written(await runOf('kube-public', { scope: 'cluster' }))).toEqual([]);
  expect([await living(namespace), await resource()]).toEqual([before, version]);
  // Where both have made some, one of the two goes on with all of them.
  const sets = [...new Set(before.map(({ set }) => set))];
  const moved = (await living('default')).find(({ set }) => set !== undefined && !sets.includes(set))?.set;
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/chat-sa`;
  const labels = { metadata: { labels: { [PART_OF]: moved } } };
  await world.cluster.send('PATCH', account, { body: labels, contentType: 'application/merge-patch+json' });
  for (const home of ['kube-public', 'kube-system', 'kube-public'] as const) await runOf(home, { scope: 'cluster' });
  const settled = await living(namespace);
  expect(new Set(settled.map(({ set }) => set)).size).toBe(1);
  expect(settled.map(({ uid }) => uid)).toEqual(before.map(({ uid }) => uid));
  for (const home of ['kube-public', 'kube-system'] as const) await runOf(home, { scope: 'cluster' });
  expect(await living(namespace)).toEqual(settled);
});

test('an object that one declares is no child of what the other one declares', async () => {
  const namespace = 'child';
  world.fleet.commit({
    'kube-public/own.yaml': namespaced(namespace),
    'kube-system/own.yaml': server('notes', namespace),
  });
  await runOf('kube-public');
  await runOf('kube-system');
  const made = (await living(namespace)).find(({ id }) => id.startsWith('Service/'))?.id.split('/')[1] ?? '';
  world.fleet.commit({ 'kube-system/own.yaml': map('of-system') });
  await runOf('kube-system');
  const service = `apiVersion: v1\nkind: Service\nmetadata: {name: ${made}, namespace: ${namespace}}\nspec: {ports: [{port: 9}]}\n`;
  world.fleet.commit({ 'kube-public/own.yaml': `${namespaced(namespace)}---\n${service}` });
  await runOf('kube-public');
  const before = (await living(namespace)).filter(({ id }) => id === `Service/${made}`);
  expect(before).toHaveLength(1);
  world.fleet.commit({ 'kube-system/own.yaml': server('notes', namespace) });
  const other = await runOf('kube-system');
  expect(other.problems.map(({ code }) => code)).toContain('child-foreign');
  expect((await living(namespace)).filter(({ id }) => id === `Service/${made}`)).toEqual(before);
  expect(written(await runOf('kube-public'))).toEqual([]);
});

test('an object that both declare is of the one that made it: the other one neither rewrites nor deletes it', async () => {
  world.fleet.commit({ 'kube-public/own.yaml': map('both', 'one'), 'kube-system/own.yaml': map('both', 'two') });
  await runOf('kube-public');
  const kept = () => living('default').then((all) => all.filter(({ id }) => id === 'ConfigMap/both'));
  const before = await kept();
  const refused = await runOf('kube-system');
  expect(refused.problems.map(({ code, message }) => [code, message])).toEqual([
    ['resource-foreign', expect.stringContaining('another instance manages it')],
  ]);
  expect(await kept()).toEqual(before);
  world.fleet.commit({ 'kube-system/own.yaml': undefined });
  await runOf('kube-system');
  expect([written(await runOf('kube-public')), await kept()]).toEqual([[], before]);
});
