// What a run leaves alone: nothing to do is nothing written, others' work stays, and a world that refuses or breaks off
// costs no object.

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { KINDS } from '#reconciler/kinds/index.ts';
import { apply } from '#reconciler/run/apply/apply.ts';
import { OWNER, PART_OF, SOURCE } from '#reconciler/run/labels.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import { exitCodeOf, type RunResult } from '#reconciler/run/result.ts';
import { formatId } from '#std/problem.ts';
import { API_GROUP, startWorld, type World } from '../../harness/world.ts';
import { members, publish, server, versionsOf } from './fleet.ts';

const FLEET = { clock: '1.0.0', news: '1.0.0', weather: '1.0.0' };
const TOOLS = '/api/v1/namespaces/tools';
const DEPLOYMENT = '/apis/apps/v1/namespaces/tools/deployments/clock';
const STATEFUL_SET = '/apis/apps/v1/namespaces/tools/statefulsets/clock';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(async () => {
  publish(world.fleet, FLEET);
  const result = await world.run();
  expect(exitCodeOf(result)).toBe(0);
});

afterEach(() => world.cluster.cluster.faults.clear());
afterAll(() => world.close());

function living(): Promise<Map<string, KubeObject>> {
  return members(world.client, 'test');
}

function did({ outcomes }: RunResult): string[] {
  return outcomes.map(({ action, resource }) => `${formatId(resource)} ${action}`).sort();
}

async function counted(run: () => Promise<RunResult>) {
  const { cluster } = world.cluster;
  cluster.resetCounters();
  const result = await run();
  return { result, counters: cluster.counters() };
}

/** As `kubectl edit` and others do it. */
async function edit(path: string, patch: object): Promise<void> {
  const contentType = 'application/merge-patch+json';
  const { status } = await world.cluster.send('PATCH', `${path}?fieldManager=kubectl-edit`, {
    body: patch,
    contentType,
  });
  expect(status).toBe(200);
}

async function read(path: string): Promise<KubeObject> {
  const { body } = await world.cluster.send('GET', path);
  return body;
}

async function expectIdle(): Promise<void> {
  const { result, counters } = await counted(() => world.run());
  expect(did(result)).toEqual([]);
  expect(counters.writes).toEqual({});
  expect(counters.dryRuns).toEqual({});
}

test('what lives is listed while what was fetched is read, and not before', async () => {
  const listed: string[] = [];
  const list: World['client']['list'] = (kind, ...rest) => {
    listed.push(kind.kind);
    return world.client.list(kind, ...rest);
  };
  async function fetchHeld({ repository }: FleetSource): Promise<Checkout> {
    const checkout = await repository.fetch();
    expect(listed).toEqual([]);
    return {
      ...checkout,
      async read(oids) {
        await expect.poll(() => listed).toEqual(expect.arrayContaining(['MCPServer', 'StatefulSet']));
        return checkout.read(oids);
      },
    };
  }
  const result = await world.run({
    cluster: { ...world.client, list },
    sources: (fleet) => [{ ...fleet, repository: { ...fleet.repository, fetch: () => fetchHeld(fleet) } }],
  });
  expect([result.outcomes, exitCodeOf(result)]).toEqual([[], 0]);
});

test('a second run writes nothing, lists each kind once, Secrets and ConfigMaps twice, and gets the lease, the ApplySet parent, the inventory, the suspension and what is out of use', async () => {
  const { result, counters } = await counted(() => world.run());
  expect(exitCodeOf(result)).toBe(0);
  expect(counters.writes).toEqual({});
  expect(counters.dryRuns).toEqual({});
  expect(counters.requests).toEqual({
    get: { 'leases.coordination.k8s.io': 1, configmaps: 4 },
    list: {
      namespaces: 1,
      // Their metadata, and the contents of those that have our label.
      configmaps: 2,
      secrets: 2,
      services: 1,
      serviceaccounts: 1,
      'roles.rbac.authorization.k8s.io': 1,
      'rolebindings.rbac.authorization.k8s.io': 1,
      'deployments.apps': 1,
      'statefulsets.apps': 1,
      ...Object.fromEntries(KINDS.map(({ plural }) => [`${plural}.${API_GROUP}`, 1])),
    },
  });
});

test('a commit that adds, changes and removes a server moves those, and the status of their group', async () => {
  const before = versionsOf(await living());
  publish(world.fleet, { clock: '2.0.0', news: '1.0.0', search: '1.0.0' });
  const result = await world.run();
  const after = versionsOf(await living());

  const ids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const moved = ids.filter((id) => before[id] !== after[id]);
  const ofTheThree = moved.filter((id) => /\b(clock|search|weather)\b/.test(id));
  expect(moved.filter((id) => !ofTheThree.includes(id))).toEqual(['tools/MCPGroup/team']);
  expect(ofTheThree.filter((id) => id.includes('clock'))).toEqual([
    'tools/ConfigMap/clock-runconfig',
    'tools/MCPServer/clock',
    'tools/StatefulSet/clock',
  ]);
  expect(ids.filter((id) => id.includes('weather')).filter((id) => after[id] !== undefined)).toEqual([]);
  expect(did(result)).toContain('tools/MCPServer/search created');
  await expectIdle();
});

test('what somebody changed of ours is set right', async () => {
  await edit(DEPLOYMENT, { metadata: { labels: { [OWNER]: 'mcpserver.stolen' } } });
  await edit(`${TOOLS}/configmaps/clock-runconfig`, { data: { 'runconfig.json': '{}' } });
  const removed = await world.cluster.send('DELETE', `${TOOLS}/services/mcp-clock-proxy`);
  expect(removed.status).toBe(200);

  const result = await world.run();
  expect(did(result)).toEqual([
    'tools/ConfigMap/clock-runconfig configured',
    'tools/Deployment/clock configured',
    'tools/Service/mcp-clock-proxy created',
  ]);
  expect((await read(DEPLOYMENT)).metadata.labels?.[OWNER]).toBe('mcpserver.clock');
  await expectIdle();
});

test('labels, annotations and fields of others on our objects stay, and cause no write', async () => {
  await edit(STATEFUL_SET, {
    metadata: { labels: { team: 'blue' }, annotations: { 'example.com/note': 'keep' } },
    spec: { minReadySeconds: 7, template: { spec: { priorityClassName: 'high' } } },
  });
  await edit('/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/clock', {
    metadata: { annotations: { 'example.com/note': 'keep' } },
  });
  await expectIdle();

  publish(world.fleet, { ...FLEET, clock: '3.0.0' });
  expect(did(await world.run())).toContain('tools/StatefulSet/clock configured');
  const { metadata, spec } = await read(STATEFUL_SET);
  expect(metadata.labels?.team).toBe('blue');
  expect(metadata.annotations?.['example.com/note']).toBe('keep');
  expect(spec).toMatchObject({ minReadySeconds: 7, template: { spec: { priorityClassName: 'high' } } });
});

test('what others put beside ours is never deleted, whatever it calls itself', async () => {
  const child = { [OWNER]: 'mcpserver.weather', [SOURCE]: 'fleet' };
  const labels = [{}, child, { ...child, [PART_OF]: 'applyset-of-somebody-else-v1' }];
  for (const [index, own] of labels.entries()) {
    const metadata = { name: `foreign-${index}`, namespace: 'tools', labels: own };
    const path = `${TOOLS}/configmaps`;
    const { status } = await world.cluster.send('POST', path, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } },
    });
    expect(status).toBe(201);
  }
  publish(world.fleet, { clock: '1.0.0', news: '1.0.0' });
  const result = await world.run();
  expect(did(result)).toContain('tools/MCPServer/weather deleted');
  for (const index of labels.keys()) {
    expect((await world.cluster.send('GET', `${TOOLS}/configmaps/foreign-${index}`)).status).toBe(200);
  }
});

test('a LIST that fails takes nothing of its kind away, and is reported with its URL', async () => {
  const before = await living();
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'configmaps' }, action: { status: 500 } });
  publish(world.fleet, { clock: '1.0.0', news: '1.0.0' });
  const result = await world.run({ limits: { maxDeletes: 0, maxDeletesPercent: 0 } });
  expect(exitCodeOf(result)).toBe(1);
  expect(result.failures.map(({ code, data }) => [code, data.url])).toEqual([
    ['cluster-error', `${world.cluster.url}/api/v1/configmaps`],
  ]);
  const deletions = result.plan.waiting.flatMap((list) => list.deletions);
  expect(deletions.map(({ id }) => id)).toContain('tools/Deployment/weather');
  expect(deletions.filter(({ kind }) => kind === 'ConfigMap')).toEqual([]);
  world.cluster.cluster.faults.clear();
  expect([...(await living()).keys()]).toEqual([...before.keys()]);
});

test('a LIST of owners that fails leaves their children as they live', async () => {
  const before = await living();
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'mcpservers' }, action: { status: 500 } });
  publish(world.fleet, { clock: '2.0.0', news: '1.0.0' });
  const result = await world.run();
  expect(exitCodeOf(result)).toBe(1);
  expect(did(result)).toEqual([]);
  world.cluster.cluster.faults.clear();
  const group = 'tools/MCPGroup/team';
  const { [group]: _seen, ...others } = versionsOf(before);
  expect(versionsOf(await living())).toEqual({ ...others, [group]: expect.any(String) });
  // What it says is that its members are not known.
  const team = await read('/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpgroups/team');
  expect(team).toMatchObject({ status: { phase: 'Failed' } });
  await world.run();
});

test('a LIST that fails writes no status out of what is not seen', async () => {
  const before = await living();
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'deployments' }, action: { status: 500 } });
  const result = await world.run({ waitSeconds: 0 });
  expect(exitCodeOf(result)).toBe(1);
  world.cluster.cluster.faults.clear();
  expect(versionsOf(await living())).toEqual(versionsOf(before));
});

test('a LIST that fails keeps nothing but the statuses that are made of it from being written', async () => {
  const budget = 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: seldom, namespace: tools}\n';
  world.fleet.commit({
    'cluster/seldom.yaml': `${budget}spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}\n`,
  });
  await world.run();
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/clock';
  const { status } = (await read(path)) as { status?: object };
  const body = { body: { status: { ...status, phase: 'Stale' } }, contentType: 'application/merge-patch+json' };
  await world.cluster.send('PATCH', `${path}/status?fieldManager=skep-test`, body);
  world.cluster.cluster.faults.add({
    match: { verb: 'list', resource: 'poddisruptionbudgets' },
    action: { status: 403 },
  });
  const result = await world.run({ waitSeconds: 0 });
  expect(exitCodeOf(result)).toBe(1);
  expect(result.failures.map(({ code }) => code)).toEqual(['cluster-forbidden']);
  expect((await read(path)).status).toEqual(status);
  world.cluster.cluster.faults.clear();
  world.fleet.commit({ 'cluster/seldom.yaml': undefined });
  await world.run();
});

test('a change that the server refuses is asked about once a run, and costs no lease and no second look', async () => {
  const broken = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: refused, namespace: tools}\n';
  const spec =
    'spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: []}}}\n';
  world.fleet.commit({ 'cluster/refused.yaml': broken + spec });
  const first = await world.run({ waitSeconds: 0 });
  expect(exitCodeOf(first)).toBe(7);
  const { result, counters } = await counted(() => world.run({ waitSeconds: 0 }));
  expect(exitCodeOf(result)).toBe(7);
  expect(did(result)).toEqual(did(first));
  expect(counters.writes).toEqual({});
  expect(counters.requests.list?.['deployments.apps']).toBe(1);
  world.fleet.commit({ 'cluster/refused.yaml': undefined });
  await world.run();
});

test('a LIST that fails takes no kind out of the ApplySet parent', async () => {
  const parent = '/api/v1/namespaces/default/configmaps/skep-test';
  const kinds = (await read(parent)).metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds'];
  expect(kinds).toContain('StatefulSet.apps');
  world.cluster.cluster.faults.add({ match: { verb: 'list', resource: 'statefulsets' }, action: { status: 500 } });
  publish(world.fleet, {});
  expect(did(await world.run())).toContain('tools/Deployment/clock deleted');
  expect((await read(parent)).metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds']).toBe(kinds);
  world.cluster.cluster.faults.clear();
  await world.run();
  expect((await read(parent)).metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds']).toBe(
    'MCPGroup.toolhive.stacklok.dev,Namespace',
  );
});

test('429 with Retry-After is waited out', async () => {
  world.cluster.cluster.faults.add({
    match: { verb: 'apply', resource: 'statefulsets' },
    action: { status: 429, retryAfterSeconds: 1 },
    times: 1,
  });
  publish(world.fleet, { ...FLEET, clock: '2.0.0' });
  const started = performance.now();
  const result = await world.run();
  expect(performance.now() - started).toBeGreaterThan(1000);
  expect(exitCodeOf(result)).toBe(0);
  expect(did(result)).toContain('tools/StatefulSet/clock configured');
  await expectIdle();
});

for (const drop of ['before', 'after'] as const) {
  test(`a connection that breaks ${drop} the server did the write is no failure of the run`, async () => {
    const { faults } = world.cluster.cluster;
    for (const resource of ['mcpservers', 'deployments']) {
      faults.add({ match: { verb: 'apply', resource }, action: { drop }, times: 1 });
    }
    faults.add({ match: { verb: 'delete', resource: 'statefulsets' }, action: { drop }, times: 1 });
    publish(world.fleet, { clock: '4.0.0', search: '1.0.0' });
    const result = await world.run();
    expect(exitCodeOf(result)).toBe(0);
    expect(result.outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    await expectIdle();
    expect([...(await living()).keys()].filter((id) => /news|weather/.test(id))).toEqual([]);
  });
}

test('a field that another sets after planning is left to it, and the rest is applied', async () => {
  world.fleet.commit({ 'cluster/clock.yaml': `${server('clock', '6.0.0')}  env: [{name: ZONE, value: UTC}]\n` });
  const { plan } = await world.plan({ conflicts: 'report' });
  const path = '/apis/toolhive.stacklok.dev/v1alpha1/namespaces/tools/mcpservers/clock';
  await edit(path, { spec: { image: 'images.example.com/clock:theirs' } });
  const outcomes = await apply(
    { cluster: world.client, clock: systemClock, random: randomBytes, progress: () => undefined },
    { plan, uids: new Map(), run: 'run', force: false },
  );
  const own = outcomes.find(({ resource }) => resource.kind === 'MCPServer');
  expect(own).toMatchObject({
    action: 'configured',
    conceded: [{ path: '/spec/image', pointer: '/spec/image', manager: 'kubectl-edit' }],
  });
  expect((await read(path)).spec).toMatchObject({
    image: 'images.example.com/clock:theirs',
    env: [{ name: 'ZONE', value: 'UTC' }],
  });
});

test('an object that another took the place of after planning is neither changed nor deleted', async () => {
  publish(world.fleet, { clock: '5.0.0', news: '1.0.0' });
  const { plan } = await world.plan();
  for (const name of ['clock', 'weather']) await replaceByAnother(name);
  const outcomes = await apply(
    { cluster: world.client, clock: systemClock, random: randomBytes, progress: () => undefined },
    // Without the gate, so that the deletion is tried although a change has failed.
    { plan: { ...plan, within: [] }, uids: new Map(), run: 'run', force: true },
  );
  const failed = outcomes.filter(({ action }) => action === 'failed');
  expect(failed.map(({ resource, error }) => [formatId(resource), error?.code])).toEqual([
    ['tools/ConfigMap/clock-runconfig', 'cluster-conflict'],
    ['tools/ConfigMap/weather-runconfig', 'cluster-conflict'],
  ]);
  for (const name of ['clock', 'weather']) {
    expect((await read(`${TOOLS}/configmaps/${name}-runconfig`)).data).toEqual({ whose: 'another' });
  }
});

/** Deletes a ConfigMap of ours; someone else makes one of the same name. */
async function replaceByAnother(name: string): Promise<void> {
  const path = `${TOOLS}/configmaps`;
  const metadata = { name: `${name}-runconfig`, namespace: 'tools' };
  expect((await world.cluster.send('DELETE', `${path}/${metadata.name}`)).status).toBe(200);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { whose: 'another' } };
  expect((await world.cluster.send('POST', path, { body })).status).toBe(201);
}
