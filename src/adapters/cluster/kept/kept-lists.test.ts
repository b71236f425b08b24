// Tests lists that watches keep current: our writes appear before their events, late events undo nothing, and a LIST
// finds lost changes. In one file, because all tests share one server and the proxy that delays its events.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import type { JsonObject } from '#std/json.ts';
import { eventually, startTestCluster, type TestCluster } from '../../../../test/harness/cluster.ts';
import { startWatchProxy, type WatchProxy } from '../../../../test/harness/watch-proxy.ts';
import { type ConnectedCluster, connectCluster } from '../connect.ts';
import { keepLists } from './kept-lists.ts';

let server: TestCluster;
let proxy: WatchProxy;
let others: ConnectedCluster;
let own: ConnectedCluster;
let configMaps: ApiResource;
const changed: string[] = [];
const missed: string[] = [];
let failure: unknown;

beforeAll(async () => {
  server = await startTestCluster();
  proxy = await startWatchProxy(server);
  const options = { concurrency: 4, version: 'test', clock: systemClock };
  others = await connectCluster({ ...options, kubeconfig: server.kubeconfigPath, fieldManager: 'others' });
  const connected = await connectCluster({ ...options, kubeconfig: proxy.kubeconfigPath, fieldManager: 'own' });
  own = keepLists(connected, {
    clock: systemClock,
    changed: (changes) =>
      void changed.push(...changes.map(({ before, after }) => (after ?? before)?.metadata.name ?? '')),
    lost: () => undefined,
    missed: (_kind, objects) => void missed.push(...objects),
    say: () => undefined,
    fail: (error) => {
      failure = error;
    },
  });
  const found = await own.serves('v1', 'ConfigMap');
  if (found === undefined) throw new Error('no ConfigMaps');
  configMaps = found;
  await values();
  await eventually(
    async () => proxy.open().length,
    (open) => open === 1,
  );
});

afterAll(async () => {
  await Promise.all([own.close(), others.close()]);
  await proxy.close();
  await server.stop();
  expect(failure).toBeUndefined();
});

function configMap(name: string, value: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { value } };
}

async function values(): Promise<Record<string, unknown>> {
  const listed = await own.list(configMaps, 'default', { kept: true });
  return Object.fromEntries(listed.map(({ metadata, data }) => [metadata.name, (data as { value?: string })?.value]));
}

function lists(): number {
  return proxy.seen.filter((label) => label === 'LIST configmaps').length;
}

test('own writes are in the list immediately, without a LIST, and are not reported as changes', async () => {
  const before = lists();
  const release = proxy.hold();
  await own.apply(configMap('a', '1'), { force: true });
  await own.apply(configMap('a', '2'), { force: true });
  expect(await values()).toMatchObject({ a: '2' });
  release();
  await others.apply(configMap('b', '1'), { force: true });
  await eventually(values, (found) => found.b === '1');
  expect(await values()).toMatchObject({ a: '2', b: '1' });
  await eventually(
    async () => changed,
    (names) => names.includes('b'),
  );
  expect(changed).toEqual(['b']);
  expect(lists()).toBe(before);
});

test('late events do not add a deleted object to the list again', async () => {
  const release = proxy.hold();
  await own.apply(configMap('c', '1'), { force: true });
  const made = await own.apply(configMap('c', '2'), { force: true });
  await own.remove({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'c' }, made.metadata.uid ?? '');
  const before = lists();
  expect(await values()).not.toHaveProperty('c');
  expect(lists()).toBe(before + 1);
  release();
  await others.apply(configMap('d', '1'), { force: true });
  await eventually(values, (found) => found.d === '1');
  expect(await values()).not.toHaveProperty('c');
  expect(lists()).toBe(before + 1);
});

test('after a write without a response, the object is listed again', async () => {
  server.cluster.faults.add({ match: { verb: 'apply', resource: 'configmaps' }, action: { drop: 'after' }, times: 1 });
  const before = lists();
  await own.apply(configMap('e', '1'), { force: true }).catch(() => undefined);
  expect(await values()).toMatchObject({ e: '1' });
  await own.apply(configMap('f', '1'), { force: false });
  await expect(others.apply(configMap('f', '2'), { force: false })).rejects.toThrow('conflict');
  expect(lists()).toBeLessThanOrEqual(before + 1);
});

test('a check by LIST finds and reports a change whose event was lost, and counts it after a later event', async () => {
  expect(missed).toEqual([]);
  proxy.lose('MODIFIED', 'configmaps');
  await others.apply(configMap('b', 'lost'), { force: true });
  await others.apply(configMap('d', '2'), { force: true });
  await eventually(values, (found) => found.d === '2');
  expect(await values()).toMatchObject({ b: '1' });
  changed.length = 0;
  own.listAgain();
  expect(await values()).toMatchObject({ b: 'lost' });
  expect(missed).toEqual([]);
  await others.apply(configMap('d', '3'), { force: true });
  await eventually(
    async () => missed.length,
    (count) => count > 0,
  );
  expect(missed).toEqual(['/ConfigMap/default/b']);
  await eventually(
    async () => changed,
    (names) => names.includes('b'),
  );
});

test('a check by LIST that is ahead of the events counts no missed change', async () => {
  missed.length = 0;
  const release = proxy.hold();
  await others.apply(configMap('b', 'late'), { force: true });
  own.listAgain();
  expect(await values()).toMatchObject({ b: 'late' });
  release();
  await others.apply(configMap('d', '4'), { force: true });
  await eventually(values, (found) => found.d === '4');
  expect(missed).toEqual([]);
});

test('a LIST that began before our own deletion is not used after the deletion', async () => {
  const name = 'g';
  const made = await own.apply(configMap(name, '1'), { force: true });
  const release = proxy.hold();
  const answers = proxy.holdAnswers('LIST configmaps');
  own.listAgain();
  const before = values();
  await eventually(
    async () => answers.count(),
    (count) => count === 1,
  );
  await own.remove({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name }, made.metadata.uid ?? '');
  const after = values();
  answers.release();
  expect(await before).toHaveProperty(name);
  expect(await after).not.toHaveProperty(name);
  release();
});

test('a change by another client is reported even if our later write of the object is known first', async () => {
  const answers = proxy.holdAnswers('PATCH configmaps');
  const known = changed.length;
  await others.apply(configMap('h', '1'), { force: true });
  const writing = own.apply({ ...configMap('h', ''), data: { own: '1' } }, { force: true });
  await eventually(values, (found) => found.h === '1');
  await eventually(
    async () => answers.count(),
    (count) => count === 1,
  );
  answers.release();
  await writing;
  await eventually(
    async () => changed.slice(known),
    (names) => names.includes('h'),
  );
});

test('a change by another client is reported if only the response to our own status write shows it', async () => {
  const id = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'i', namespace: 'default' } };
  const template = { metadata: { labels: { app: 'i' } }, spec: { containers: [{ name: 'i', image: 'i:1' }] } };
  const deployment = { ...id, spec: { selector: { matchLabels: { app: 'i' } }, template } };
  await others.apply(deployment, { force: true });
  const kind = await own.serves('apps/v1', 'Deployment');
  if (kind === undefined) throw new Error('no Deployments');
  await own.list(kind, 'default', { kept: true });
  await eventually(
    async () => proxy.open(),
    (open) => open.includes('deployments'),
  );
  const release = proxy.hold('deployments');
  changed.length = 0;
  await others.apply({ ...deployment, spec: { ...deployment.spec, paused: true } }, { force: true });
  await own.apply({ ...id, status: { collisionCount: 1 } }, { force: true, subresource: 'status' });
  release();
  await eventually(
    async () => changed,
    (names) => names.includes('i'),
  );
});

test('after a change of a definition, the objects of its kind are listed again', async () => {
  const group = 'tests.example.com';
  await others.apply(definition(group, {}), { force: true });
  const kind = await eventually(
    async () => {
      own.refresh();
      return own.serves(`${group}/v1`, 'Clock');
    },
    (found) => found !== undefined,
  );
  if (kind === undefined) throw new Error('no clocks');
  const listed = () => proxy.seen.filter((label) => label === 'LIST clocks').length;
  await own.schema(kind.apiVersion);
  await own.list(kind, 'default', { kept: true });
  await eventually(
    async () => proxy.open(),
    (open) => open.includes('clocks'),
  );
  await own.list(kind, 'default', { kept: true });
  expect(listed()).toBe(1);
  const before = await own.schema(kind.apiVersion);
  await others.apply(definition(group, { zone: { type: 'string', default: 'UTC' } }), { force: true });
  await eventually(
    async () => {
      own.refresh();
      return own.schema(kind.apiVersion);
    },
    (schema) => schema !== before,
  );
  await own.list(kind, 'default', { kept: true });
  expect(listed()).toBe(2);
});

function definition(group: string, properties: JsonObject): KubeObject {
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `clocks.${group}` },
    spec: {
      group,
      names: { plural: 'clocks', singular: 'clock', kind: 'Clock', listKind: 'ClockList' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

test('if the server refuses watches, each read sends a LIST', async () => {
  server.cluster.faults.add({ match: { verb: 'watch' }, action: { status: 403 } });
  proxy.cut();
  const before = lists();
  await others.apply(configMap('d', '5'), { force: true });
  await eventually(values, (found) => found.d === '5');
  await eventually(
    async () => proxy.open().length,
    (open) => open === 0,
  );
  await values();
  expect(lists()).toBeGreaterThan(before);
});
