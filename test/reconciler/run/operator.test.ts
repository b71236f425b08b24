// An instance without sources: what others apply gets children and a status at once, also after a watch was lost, and a run that
// dies at any write is finished by the next. In one file, because all stories share one cluster.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConnectedCluster, connectCluster } from '#adapters/cluster/connect.ts';
import { systemClock } from '#hosts/clock.ts';
import { idOf, type KubeObject } from '#kubernetes/rules/object.ts';
import { applySetId, PART_OF } from '#reconciler/run/labels.ts';
import { exitCodeOf } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { isObject } from '#std/json.ts';
import { formatId } from '#std/problem.ts';
import { eventually } from '../../cluster/server.ts';
import { type InstanceFolder, instanceFolder } from '../../harness/instance.ts';
import { type Fate, type Passing, startProxy } from '../../harness/proxy.ts';
import type { Running } from '../../harness/skep.ts';
import { startWorld, type World } from '../../harness/world.ts';
import { members } from './fleet.ts';
import { hurriedClock, newProcess } from './process.ts';

const API = 'toolhive.stacklok.dev/v1beta1';
const NAMESPACE = 'tools';

let world: World;
/** Applies as others do. */
let others: ConnectedCluster;

beforeAll(async () => {
  world = await startWorld({ workloadsReadyAfterMs: 0 });
  others = await connectCluster({
    kubeconfig: world.cluster.kubeconfigPath,
    fieldManager: 'kustomize-controller',
    concurrency: 4,
    version: 'test',
    clock: systemClock,
  });
  await others.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, { force: true });
});

afterAll(async () => {
  await others.close();
  await world.close();
});

function server(name: string, image = `images.example.com/${name}:1`): KubeObject {
  const metadata = { name, namespace: NAMESPACE, labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } };
  return { apiVersion: API, kind: 'MCPServer', metadata, spec: { image, transport: 'stdio' } };
}

function apply(object: KubeObject): Promise<KubeObject> {
  return others.apply(object, { force: false });
}

async function remove(name: string): Promise<void> {
  const found = await others.get(idOf(server(name)));
  await others.remove(idOf(server(name)), found?.metadata.uid ?? '');
}

function workload(name: string): Promise<KubeObject | undefined> {
  return others.get({ apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: NAMESPACE, name });
}

function imageOf(object: KubeObject | undefined): string {
  return JSON.stringify(object?.spec ?? {});
}

describe('skep run', () => {
  let instance: InstanceFolder;
  let running: Running;

  beforeAll(async () => {
    instance = instanceFolder(world);
    // The schedule has no part in this.
    instance.configure({ sources: [], scope: 'cluster', schedule: '0 0 0 1 1 *', jitterSeconds: 0 });
    running = instance.start('run');
    await running.printed('at each change');
  });

  afterAll(async () => {
    running.kill('SIGTERM');
    await running.finished;
    instance.remove();
  });

  test('makes children of what is applied, changes them with it, and writes its status', async () => {
    await apply(server('clock'));
    await eventually(
      () => others.get(idOf(server('clock'))),
      (found) => isObject(found?.status) && found.status.phase === 'Running',
    );
    await apply(server('clock', 'images.example.com/clock:2'));
    await eventually(
      () => workload('clock'),
      (found) => imageOf(found).includes('images.example.com/clock:2'),
    );
    const { metadata } = (await others.get(idOf(server('clock')))) ?? server('clock');
    expect(metadata.labels).toEqual({ 'kustomize.toolkit.fluxcd.io/name': 'apps' });
    const writers = metadata.managedFields?.filter(({ subresource }) => !subresource).map(({ manager }) => manager);
    expect(writers).toEqual(['kustomize-controller']);
    const child = (await workload('clock')) ?? server('none');
    expect(child.metadata.labels).not.toHaveProperty('kustomize.toolkit.fluxcd.io/name');
  });

  test('goes on after the API server was away, with what changed meanwhile and what changes after', async () => {
    await world.cluster.restart();
    await apply(server('during'));
    await eventually(
      () => workload('during'),
      (found) => found !== undefined,
    );
    await apply(server('after'));
    await eventually(
      () => workload('after'),
      (found) => found !== undefined,
    );
  });

  test('leaves the children of what is deleted to the garbage collector, without a word about approvals', async () => {
    for (const name of ['clock', 'during', 'after']) await remove(name);
    await eventually(
      async () => [...(await members(others, 'test')).keys()].filter((id) => id.startsWith(`${NAMESPACE}/`)),
      (left) => left.length === 0,
    );
    expect(running.output()).not.toContain('approval');
  });
});

test('a wrong configuration is named, and a plan without sources shows children', async () => {
  const instance = instanceFolder(world);
  instance.configure({ sources: [] });
  const wrong = await instance.run('plan');
  expect([wrong.code, wrong.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('there is no source: name one, or set scope to cluster'),
  ]);
  instance.configure({ sources: [], scope: 'cluster' });
  await apply(server('shown'));
  const { code, stdout } = await instance.run('plan');
  expect([code, stdout]).toEqual([0, expect.stringContaining(`+ ${NAMESPACE}/StatefulSet/shown`)]);
  await remove('shown');
  instance.remove();
});

/** The n-th write is the last thing that happens, or no longer happens. */
function atWrite(n: number, when: 'before' | 'after'): (passing: Passing) => Fate {
  let count = 0;
  return ({ isWrite }) => {
    count += isWrite ? 1 : 0;
    return isWrite && count === n ? { end: when } : 'pass';
  };
}

test('a run that dies before or after any write is finished by the next, and no object has two owners', async () => {
  async function dies(fate: (passing: Passing) => Fate): Promise<boolean> {
    const proxy = await startProxy(world.cluster, fate);
    const doomed = await newProcess({ kubeconfig: proxy.kubeconfigPath, concurrency: 1, clock: hurriedClock() });
    const result = await doomed.run({ scope: 'cluster' }).catch(() => undefined);
    await Promise.all([doomed.close(), proxy.close()]);
    return result === undefined || exitCodeOf(result) !== 0;
  }
  let points = 0;
  for (let n = 1, isOver = false; !isOver; n += 1) {
    const when = n % 2 === 0 ? 'before' : 'after';
    const name = `victim-${n}`;
    await apply(server(name));
    isOver = !(await dies(atWrite(n, when)));
    const next = await newProcess({ kubeconfig: world.cluster.kubeconfigPath, concurrency: 4, clock: hurriedClock() });
    const result = await next.run({ scope: 'cluster' });
    expect([n, exitCodeOf(result), (await next.plan({ scope: 'cluster' })).plan.batches]).toEqual([n, 0, []]);
    await next.close();
    const found = [...(await members(others, 'test')).values()].filter(
      ({ metadata }) => metadata.namespace === NAMESPACE,
    );
    const owners = found.map(({ metadata: { ownerReferences = [] } }) => ownerReferences.map((each) => each.name));
    expect([n, new Set(owners.map(String))]).toEqual([n, new Set([name])]);
    await remove(name);
    await eventually(
      async () => (await workload(name)) === undefined,
      (isGone) => isGone,
    );
    points += 1;
  }
  expect(points).toBeGreaterThan(8);
});

test('children whose owner was just deleted wait for no approval, and a list that failed deletes nothing', async () => {
  const options = {
    scope: 'cluster',
    sources: () => [],
    waitSeconds: 0,
    limits: { maxDeletes: 0, maxDeletesPercent: 0 },
  } as const;
  await apply(server('gone'));
  await world.run(options);
  // As it is before the garbage collector has seen it.
  const list: ConnectedCluster['list'] = async (kind, ...how) =>
    (await world.client.list(kind, ...how)).filter(
      (object) => kind.kind !== 'MCPServer' || object.metadata.name !== 'gone',
    );
  const { plan } = await world.run({ ...options, cluster: { ...world.client, list } });
  expect([plan.batches, plan.waiting]).toEqual([[], []]);
  expect(new Set(plan.held.map(({ reason }) => reason))).toEqual(
    new Set(['its owner was deleted, and the garbage collector deletes it']),
  );
  const failing: ConnectedCluster['list'] = (kind, ...how) =>
    kind.kind === 'MCPServer' ? Promise.reject(new Failure('cluster-error', 'no')) : world.client.list(kind, ...how);
  const blind = await world.run({ ...options, cluster: { ...world.client, list: failing } });
  expect([exitCodeOf(blind), blind.outcomes]).toEqual([1, []]);
  await remove('gone');
});

test('children whose owner is being deleted wait for no approval', async () => {
  const limits = { maxDeletes: 0, maxDeletesPercent: 0 };
  const options = { scope: 'cluster', sources: () => [], waitSeconds: 0, limits } as const;
  const leaving = server('leaving');
  // A deletion in the foreground keeps it like this until its children are gone.
  await apply({ ...leaving, metadata: { ...leaving.metadata, finalizers: ['example.com/stays'] } });
  await world.run(options);
  const path = `/apis/${API}/namespaces/${NAMESPACE}/mcpservers/leaving`;
  await world.cluster.send('DELETE', `${path}?propagationPolicy=Background`);
  const { plan } = await world.run(options);
  expect([plan.batches, plan.waiting]).toEqual([[], []]);
  expect(new Set(plan.held.map(({ reason }) => reason))).toEqual(
    new Set(['its owner was deleted, and the garbage collector deletes it']),
  );
  await apply(leaving);
  await eventually(
    () => workload('leaving'),
    (found) => found === undefined,
  );
});

test('a fleet moves from Git to others: nothing is deleted, and its children stay what they are', async () => {
  world.fleet.commit({ 'cluster/moved.yaml': JSON.stringify(server('moved')) });
  const own = { waitSeconds: 0 } as const;
  await world.run(own);
  const before = await workload('moved');
  const alone = { ...own, scope: 'cluster', sources: () => [] } as const;
  const { plan, outcomes } = await world.run(alone);
  expect([plan.waiting.length, outcomes]).toEqual([1, []]);
  await apply(server('moved'));
  const labels = { [PART_OF]: null };
  const path = `/apis/${API}/namespaces/${NAMESPACE}/mcpservers/moved`;
  const how = { body: { metadata: { labels } }, contentType: 'application/merge-patch+json' };
  expect((await world.cluster.send('PATCH', path, how)).status).toBe(200);
  const moved = await world.run(alone);
  expect([moved.plan.waiting, moved.outcomes.filter(({ action }) => action !== 'configured')]).toEqual([[], []]);
  expect((await world.run(alone)).plan.batches).toEqual([]);
  expect((await workload('moved'))?.metadata).toMatchObject({
    uid: before?.metadata.uid,
    generation: before?.metadata.generation,
  });
  await remove('moved');
});

test('two instances make the children of a resource once', async () => {
  await apply(server('shared'));
  const alone = { scope: 'cluster', sources: () => [], waitSeconds: 0 } as const;
  await world.run(alone);
  const second = await world.run({ ...alone, instance: 'second' });
  expect(second.outcomes.filter(({ action }) => action !== 'held').map(({ resource }) => formatId(resource))).toEqual(
    [],
  );
  const found = (await others.list(await kindOf('StatefulSet'), NAMESPACE)).filter(
    ({ metadata }) => metadata.name === 'shared',
  );
  expect(found.map(({ metadata }) => metadata.labels?.[PART_OF])).toEqual([applySetId('test', 'default')]);
});

async function kindOf(kind: string) {
  const found = (await others.resources()).find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`${kind} is not served`);
  return found;
}
