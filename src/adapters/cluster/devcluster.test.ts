// Tests the Kubernetes client with the embedded cluster over real HTTPS.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { ApiResource } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { startTestCluster, type TestCluster } from '../../../test/harness/cluster.ts';
import { type ConnectedCluster, connectCluster } from './connect.ts';

let server: TestCluster;
let one: ConnectedCluster;
let two: ConnectedCluster;

beforeAll(async () => {
  server = await startTestCluster();
  const options = { kubeconfig: server.kubeconfigPath, concurrency: 16, version: '0', clock: systemClock };
  one = await connectCluster({ ...options, fieldManager: 'skep-one' });
  two = await connectCluster({ ...options, fieldManager: 'skep-two' });
  await one.apply(namespace('client'), { force: false });
});

afterAll(async () => {
  await one.close();
  await two.close();
  await server.stop();
});

function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function configMap(name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'client' }, data };
}

async function kindOf(kind: string): Promise<ApiResource> {
  const found = (await one.resources()).find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`the cluster has no ${kind}`);
  return found;
}

async function codeOf(run: () => Promise<unknown>): Promise<string> {
  const answer = await run().catch((error: unknown) => error);
  return answer instanceof Failure ? answer.code : 'no failure';
}

test('discovery names the kinds and their scope', async () => {
  expect(await kindOf('Deployment')).toMatchObject({ apiVersion: 'apps/v1', plural: 'deployments', namespaced: true });
  expect(await kindOf('Namespace')).toMatchObject({ apiVersion: 'v1', plural: 'namespaces', namespaced: false });
});

test('schemas contain the types that merging needs', async () => {
  const document = await one.schema('apps/v1');
  expect(Object.keys(document?.components.schemas ?? {})).toContain('io.k8s.api.apps.v1.Deployment');
});

test('listed objects with equal managedFields share one fieldsV1 object in memory', async () => {
  await one.apply(configMap('alike-1', { a: '1' }), { force: false });
  await one.apply(configMap('alike-2', { a: '2' }), { force: false });
  await one.apply(configMap('other', { b: '1' }), { force: false });
  const listed = await one.list(await kindOf('ConfigMap'), 'client');
  const fieldsOf = (name: string) =>
    listed.find(({ metadata }) => metadata.name === name)?.metadata.managedFields?.[0]?.fieldsV1;
  expect(fieldsOf('alike-1')).toEqual({ 'f:data': { 'f:a': {} } });
  expect(fieldsOf('alike-2')).toBe(fieldsOf('alike-1'));
  expect(fieldsOf('other')).toEqual({ 'f:data': { 'f:b': {} } });
});

test('an applied object is owned by its manager, dry runs store nothing, and other managers get a conflict', async () => {
  await one.apply(configMap('owned', { a: '1' }), { force: false });
  const dry = await one.apply(configMap('owned', { a: '2' }), { force: false, dryRun: true });
  expect(dry.data).toEqual({ a: '2' });
  const conflict = await two.apply(configMap('owned', { a: '3' }), { force: false }).catch((error: unknown) => error);
  expect(conflict).toMatchObject({ code: 'cluster-conflict', data: { causes: [{ field: '.data.a' }] } });
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'client', name: 'owned' };
  expect(await one.get(id)).toMatchObject({ data: { a: '1' }, metadata: { managedFields: [{ manager: 'skep-one' }] } });
  expect((await two.apply(configMap('owned', { a: '3' }), { force: true })).data).toEqual({ a: '3' });
});

test('an unknown field is invalid, and a wrong uid is a conflict', async () => {
  expect(await codeOf(() => one.apply({ ...configMap('strict', {}), foo: 1 }, { force: false }))).toBe(
    'cluster-invalid',
  );
  await one.apply(configMap('strict', {}), { force: false });
  const other = configMap('strict', {});
  other.metadata.uid = '00000000-0000-0000-0000-000000000000';
  expect(await codeOf(() => one.apply(other, { force: false }))).toBe('cluster-conflict');
});

test('a list of several pages is complete, and each page counts as one request', async () => {
  const names = Array.from({ length: 2_100 }, (_, index) => `many-${index}`);
  await Promise.all(names.map((name) => one.apply(configMap(name, {}), { force: false })));
  const kind = await kindOf('ConfigMap');
  const before = one.requests();
  const items = await one.list(kind, 'client');
  expect(items.filter(({ metadata }) => metadata.name.startsWith('many-')).length).toBe(2_100);
  expect(items.every(({ apiVersion, kind: each }) => apiVersion === 'v1' && each === 'ConfigMap')).toBe(true);
  expect(one.requests() - before).toBe(2);
});

test('a deletion with a wrong uid is a conflict, and a repeated deletion succeeds', async () => {
  const { metadata } = await one.apply(configMap('doomed', {}), { force: false });
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'client', name: 'doomed' };
  expect(await codeOf(() => one.remove(id, '00000000-0000-0000-0000-000000000000'))).toBe('cluster-conflict');
  await one.remove(id, metadata.uid ?? '');
  await one.remove(id, metadata.uid ?? '');
  const left = await one.get(id);
  expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
});

test('a lease is created once, and replaced only with its latest resourceVersion', async () => {
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'lock', namespace: 'client' },
    spec: { holderIdentity: 'one' },
  };
  const created = await one.create(lease);
  expect(await codeOf(() => two.create(lease))).toBe('cluster-conflict');
  await one.replace({ ...created, spec: { holderIdentity: 'two' } });
  expect(await codeOf(() => two.replace({ ...created, spec: { holderIdentity: 'three' } }))).toBe('cluster-conflict');
});

test('a missing namespace and an unknown kind have different codes', async () => {
  const elsewhere = configMap('x', {});
  elsewhere.metadata.namespace = 'nowhere';
  expect(await codeOf(() => one.apply(elsewhere, { force: false }))).toBe('cluster-not-found');
  expect(await codeOf(() => one.apply({ ...configMap('x', {}), kind: 'Nothing' }, { force: false }))).toBe(
    'cluster-unknown-kind',
  );
});

test('requests are repeated after dropped connections and 429 responses', async () => {
  const { faults } = server.cluster;
  faults.add({ match: { verb: 'apply', resource: 'configmaps' }, action: { drop: 'after' }, times: 2 });
  faults.add({
    match: { verb: 'apply', resource: 'configmaps' },
    action: { status: 429, retryAfterSeconds: 0 },
    times: 3,
  });
  const names = ['f1', 'f2', 'f3', 'f4'];
  await Promise.all(names.map((name) => one.apply(configMap(name, { a: name }), { force: false })));
  faults.clear();
  const items = await one.list(await kindOf('ConfigMap'), 'client');
  expect(items.filter(({ metadata }) => names.includes(metadata.name)).length).toBe(4);
});

test('a list of metadata contains no other fields, not even in the annotation of kubectl', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'secret', team: 'a' };
  const object = {
    ...configMap('noted', { text: 'secret' }),
    metadata: { name: 'noted', namespace: 'client', annotations },
  };
  await one.apply(object, { force: false });
  const listed = await one.list(await kindOf('ConfigMap'), 'client', { only: 'metadata' });
  const [noted] = listed.filter(({ metadata }) => metadata.name === 'noted');
  expect(noted).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { annotations: { team: 'a' } } });
  expect(JSON.stringify(noted)).not.toContain('"secret"');
});

test('a list with a label selector has only objects with the label', async () => {
  const labels = { set: 'x' };
  await one.apply({ ...configMap('in', {}), metadata: { name: 'in', namespace: 'client', labels } }, { force: false });
  await one.apply(configMap('out', {}), { force: false });
  const listed = await one.list(await kindOf('ConfigMap'), 'client', { selector: 'set=x' });
  expect(listed.map(({ metadata }) => metadata.name)).toEqual(['in']);
});

test('large objects are listed in pages of limited bytes, and no object is missing', async () => {
  await one.apply(namespace('large'), { force: false });
  const names = Array.from({ length: 24 }, (_, index) => `large-${String(index).padStart(2, '0')}`);
  const text = 'x'.repeat(1_000_000);
  const large = (name: string) => ({
    ...configMap(name, { text }),
    metadata: { name, namespace: 'large', labels: { size: 'large' } },
  });
  await Promise.all(names.map((name) => one.apply(large(name), { force: false })));
  const kind = await kindOf('ConfigMap');
  const before = one.requests();
  const listed = await one.list(kind, 'large', { selector: 'size=large', large: true });
  expect(listed.map(({ metadata }) => metadata.name)).toEqual(names);
  // A page of 16 objects was too long, so the client requested pages of four objects.
  expect(one.requests() - before).toBeGreaterThan(names.length / 5);
  const kept = await one.list(kind, 'large', { large: true, keep: ({ metadata }) => metadata.name === 'large-23' });
  expect(kept.map(({ metadata }) => metadata.name)).toEqual(['large-23']);
});
