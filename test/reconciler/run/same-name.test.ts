// Two instances of one name and home on a cluster: the second one writes nothing before someone has approved that it is the
// first one with other sources. Two of one name in different homes leave each other's objects alone.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { sourceOrigin } from '#hosts/reconciler/instance/pinned.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { instanceFolder } from '../../harness/instance.ts';
import { startWorld, type World, type WorldOverrides } from '../../harness/world.ts';
import { members, publish } from './fleet.ts';

const OPTIONS: WorldOverrides = { limits: { maxDeletes: 20, maxDeletesPercent: 100 }, waitSeconds: 0 };
let world: World;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 3_600_000 });
});

afterAll(() => world.close());

function runOf(origin: string, path: string): Promise<RunResult> {
  return world.run(optionsFor(origin, path));
}

function optionsFor(origin: string, path: string): WorldOverrides {
  return { ...OPTIONS, sources: (fleet) => [{ ...fleet, origin, path }] };
}

function map(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {k: v}\n`;
}

test('two repositories under one name delete nothing of each other', async () => {
  publish(world.fleet, { wiki: '1.0.0' });
  world.fleet.commit({ 'other/map.yaml': map('other') });
  expect(exitCodeOf(await runOf('git.example.com/one#', 'cluster'))).toBe(0);
  const before = [...(await members(world.client, 'test')).keys()];
  const second = await runOf('git.example.com/two#', 'other');
  expect([exitCodeOf(second), second.outcomes.filter(({ action }) => action !== 'held')]).toEqual([5, []]);
  expect([...new Set(second.outcomes.map(({ error }) => error?.code))]).toEqual(['sources-unknown']);
  expect([...(await members(world.client, 'test')).keys()]).toEqual(before);
  expect(second.plan.waiting[0]?.reasons[0]).toMatch(
    /^this instance has read git\.example\.com\/one#, and none of that/,
  );
  expect((await runOf('git.example.com/one#', 'cluster')).outcomes).toEqual([]);
});

test('where that is meant, an approval lets it go on, and the limits hold for what is deleted then', async () => {
  const waiting = await runOf('git.example.com/two#', 'other');
  const own = waiting.plan.waiting.find(({ deletions }) => deletions.length === 0);
  await world.approve(own?.hash ?? '', 1, optionsFor('git.example.com/two#', 'other'));
  const result = await runOf('git.example.com/two#', 'other');
  expect([...(await members(world.client, 'test')).keys()]).toContain('default/ConfigMap/other');
  expect(result.plan.waiting.map(({ deletions }) => deletions.length > 0)).toEqual([]);
  expect((await runOf('git.example.com/two#', 'other')).outcomes).toEqual([]);
});

test('an instance of entirely other sources is never said to be in sync: its status says that all changes wait', async () => {
  world.fleet.commit({ 'one/map.yaml': map('of-one'), 'two/map.yaml': map('of-two') });
  const folder = instanceFolder(world);
  const from = (path: string) => {
    const repository = `${world.git.url}/fleet.git`;
    folder.configure({ name: 'moved', sources: [{ name: 'fleet', repository, branch: 'main', path }] });
  };
  from('one');
  await folder.use((instance) => instance.run({ waitSeconds: 0 }));
  expect((await folder.run('status')).stdout).toMatch(/^moved: in sync$/m);
  from('missing');
  const mistyped = await folder.run('plan');
  expect([mistyped.code, mistyped.stdout]).toEqual([1, expect.stringContaining('error source-path-not-found')]);
  expect(mistyped.stdout).not.toMatch(/ approve \w{16}/);
  from('two');
  const [status, plan] = [await folder.run('status'), await folder.run('plan')];
  folder.remove();
  expect(status.stdout).toMatch(/^moved: all changes wait for approval$/m);
  expect(status.stdout).toMatch(
    /^all changes wait for approval.*: this instance has read .*\n {2}to write them: \S.* approve \w{16}$/m,
  );
  expect([plan.code, plan.stdout]).toEqual([5, expect.stringMatching(/^to write them: \S.* approve \w{16}$/m)]);
});

test.each([
  ['https://bot@git.example.com/platform/fleet.git', 'clusters/prod/', 'git.example.com/platform/fleet#clusters/prod'],
  ['git@git.example.com:platform/fleet.git', './clusters/prod', 'git.example.com/platform/fleet#clusters/prod'],
  ['file:///srv/fleet.git', '', '/srv/fleet#'],
])('%s at %s is %s, however it is reached', (repository, path, origin) => {
  expect(sourceOrigin(repository, path)).toBe(origin);
});

test('an object of another instance of the same name in another home is not taken, whatever its kind', async () => {
  world.fleet.commit({ 'cluster/shared.yaml': map('shared') });
  await world.run({ ...OPTIONS, instance: 'same', homeNamespace: 'kube-public' });
  const { problems, outcomes } = await world.run({ ...OPTIONS, instance: 'same', homeNamespace: 'default' });
  expect(problems.map(({ code }) => code)).toContain('resource-foreign');
  expect(outcomes.filter(({ resource }) => resource.name === 'shared')).toEqual([]);
});

test('a Namespace that two instances of one name declare goes with neither while the other has something in it', async () => {
  const namespace = 'both';
  const own = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`;
  const inside = (name: string) => map(name).replace('namespace: default', `namespace: ${namespace}`);
  const all = (name: string) => `${own}---\n${inside(name)}`;
  world.fleet.commit({ 'one/all.yaml': all('of-one'), 'two/all.yaml': all('of-two') });
  const run = (path: string, homeNamespace: string): Promise<RunResult> =>
    world.run({ ...optionsFor(`${namespace}#${path}`, path), homeNamespace });
  const runOne = () => run('one', 'kube-public');
  const runTwo = () => run('two', 'kube-system');
  const both = async (): Promise<number[]> => {
    const paths = ['of-one', 'of-two'].map((name) => `/api/v1/namespaces/${namespace}/configmaps/${name}`);
    return (await Promise.all(paths.map((path) => world.cluster.send('GET', path)))).map(({ status }) => status);
  };
  await runOne();
  expect((await runTwo()).problems.map(({ code }) => code)).toEqual(['resource-foreign']);
  expect(await both()).toEqual([200, 200]);
  // Neither writes what the other one has written.
  expect([(await runOne()).outcomes, (await runTwo()).outcomes]).toEqual([[], []]);
  world.fleet.commit({ 'one/all.yaml': map('elsewhere') });
  const left = await runOne();
  expect(left.plan.waiting.flatMap(({ reasons }) => reasons).join()).toContain(`${namespace}/ConfigMap/of-two`);
  expect(await both()).toEqual([200, 200]);
  const { body } = await world.cluster.send('GET', `/api/v1/namespaces/${namespace}`);
  expect(body.metadata.deletionTimestamp).toBeUndefined();
});
