// Tests the contract between the reconciler and an API server (`Cluster` of src/reconciler/run/ports.ts) with the real
// adapter. In one file, because it is one contract and all tests share one server, its accounts and its definitions.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { rootType } from '#kubernetes/rules/openapi.ts';
import { compare } from '#kubernetes/rules/ownership/compare.ts';
import type { JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';
import { kubeconfigOfReconciler } from './account.ts';
import { defineKinds, newGroup } from './definitions.ts';
import { eventually, failureOf, kindOf, openServer, type SuiteServer } from './server.ts';

const OTHER_UID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

const GROUP = newGroup('adapter');

let server: SuiteServer;
/** Two with the rights of manifests/install. */
let git: ConnectedCluster;
let ops: ConnectedCluster;
let namespace: string;

beforeAll(async () => {
  server = await openServer();
  namespace = await server.namespace('adapter');
  await defineKinds(server, await server.client('suite'), GROUP);
  const account = await kubeconfigOfReconciler(server, { home: namespace, group: GROUP });
  git = await server.client('git', account);
  ops = await server.client('ops', account);
});

afterAll(async () => {
  await server.close();
});

function configMap(name: string, data: Record<string, string>, metadata: JsonObject = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data } as KubeObject;
}

function secret(name: string, fields: JsonObject): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, ...fields };
}

function lease(spec: JsonObject): KubeObject {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'skep-default', namespace }, spec };
}

function idOf({ apiVersion, kind, metadata }: KubeObject): ResourceId {
  return { apiVersion, kind, namespace, name: metadata.name };
}

test('discovery names every kind once, in its preferred version, without subresources', async () => {
  const resources = await git.resources();
  expect(await kindOf(git, 'apps/v1', 'Deployment')).toMatchObject({ plural: 'deployments', namespaced: true });
  expect(await kindOf(git, 'v1', 'Namespace')).toMatchObject({ plural: 'namespaces', namespaced: false });
  expect(resources.filter(({ plural }) => plural.includes('/'))).toEqual([]);
  const names = resources.map(({ apiVersion, kind }) => `${apiVersion.split('/')[0]} ${kind}`);
  expect(new Set(names).size).toBe(names.length);
});

test('the published schema of a group tells how its kinds merge, and is asked for once', async () => {
  const document = await git.schema('apps/v1');
  const type = document && rootType(document, { group: 'apps', version: 'v1', kind: 'Deployment' });
  expect(type?.map?.fields.get('spec')).toBeDefined();
  const before = git.requests();
  expect(await git.schema('apps/v1')).toBe(document);
  expect(git.requests()).toBe(before);
});

test('a group that is not served has no schema', async () => {
  expect(await git.schema('example.org/v1')).toBeUndefined();
});

test('what is applied comes back whole, and is owned by its manager', async () => {
  const applied = await git.apply(configMap('owned', { a: '1' }, { labels: { app: 'x' } }), { force: false });
  expect(applied).toMatchObject({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { a: '1' },
    metadata: { labels: { app: 'x' } },
  });
  expect(applied.metadata.managedFields).toMatchObject([
    {
      manager: 'skep-git',
      operation: 'Apply',
      fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:app': {} } } },
    },
  ]);
  expect(await git.get(idOf(applied))).toEqual(applied);
});

test('a value arrives as it is, also where YAML has line breaks and what it does not allow', async () => {
  const data = { text: 'a\u007fb\u0080c\u0085d\u2028e\u2029 f\ufeffg\uffffh \u0085 é 𝄞 "\\\n\t' };
  expect((await git.apply(configMap('characters', data), { force: false })).data).toEqual(data);
});

test('applying the same again writes nothing', async () => {
  const first = await git.apply(configMap('same', { a: '1' }), { force: false });
  const second = await git.apply(configMap('same', { a: '1' }), { force: false });
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
});

test('a field that is no longer applied goes', async () => {
  await git.apply(configMap('pruned', { a: '1', b: '2' }), { force: false });
  expect((await git.apply(configMap('pruned', { a: '1' }), { force: false })).data).toEqual({ a: '1' });
});

test('a dry run answers as if and stores nothing', async () => {
  const dry = await git.apply(configMap('dry', { a: '1' }), { force: false, dryRun: true });
  expect(dry.data).toEqual({ a: '1' });
  expect(await git.get(idOf(dry))).toBeUndefined();
});

test('a field of another manager is a conflict that names manager and field; force takes it', async () => {
  await git.apply(configMap('contested', { a: '1', b: '2' }), { force: false });
  const failure = await failureOf(ops.apply(configMap('contested', { a: 'x' }), { force: false }));
  expect(failure).toMatchObject({ code: 'cluster-conflict', retryable: false });
  expect(failure.data.causes).toEqual([
    { reason: 'FieldManagerConflict', field: '.data.a', message: 'conflict with "skep-git"' },
  ]);
  const taken = await ops.apply(configMap('contested', { a: 'x' }), { force: true });
  expect(taken.data).toEqual({ a: 'x', b: '2' });
});

test('a uid that is not the living one is a conflict, also where nothing lives', async () => {
  const living = await git.apply(configMap('precious', { a: '1' }), { force: false });
  const uid = living.metadata.uid ?? '';
  expect((await git.apply(configMap('precious', { a: '2' }, { uid }), { force: true })).data).toEqual({ a: '2' });
  const other = await failureOf(git.apply(configMap('precious', { a: '3' }, { uid: OTHER_UID }), { force: true }));
  expect(other.code).toBe('cluster-conflict');
  const none = await failureOf(git.apply(configMap('nobody', { a: '3' }, { uid }), { force: true }));
  expect(none.code).toBe('cluster-conflict');
  expect(await git.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'nobody' })).toBeUndefined();
});

test.each([
  { reason: 'an unknown field', object: () => ({ ...configMap('bad', {}), datum: {} }) as KubeObject },
  {
    reason: 'a value of the wrong type',
    object: () => ({ ...configMap('bad', {}), data: { a: 1 } }) as unknown as KubeObject,
  },
  { reason: 'a key that is none', object: () => configMap('bad', { 'a/b': '' }) },
  { reason: 'a name that is none', object: () => configMap('Not_A_Name', {}) },
  { reason: 'a label that is none', object: () => configMap('bad', {}, { labels: { a: 'b c' } }) },
])('$reason is refused as invalid, not to be tried again', async ({ object }) => {
  expect(await failureOf(git.apply(object(), { force: true }))).toMatchObject({
    code: 'cluster-invalid',
    retryable: false,
  });
});

test('a namespace that does not exist is not found, a kind that is not served is unknown', async () => {
  const elsewhere = { ...configMap('x', {}), metadata: { name: 'x', namespace: `${namespace}-none` } };
  expect((await failureOf(git.apply(elsewhere, { force: true }))).code).toBe('cluster-not-found');
  const unknown = { ...configMap('x', {}), apiVersion: 'example.org/v1', kind: 'Nothing' };
  expect((await failureOf(git.apply(unknown, { force: true }))).code).toBe('cluster-unknown-kind');
});

test('a failure about a Secret names the field and never the value', async () => {
  const broken = await failureOf(git.apply(secret('broken', { data: { token: '*hunter2*' } }), { force: true }));
  const mistyped = await failureOf(
    git.apply(secret('mistyped', { stringData: { token: ['hunter2'] } }), { force: true }),
  );
  for (const failure of [broken, mistyped]) {
    expect(failure.code).toBe('cluster-invalid');
    expect(`${failure.message} ${JSON.stringify(failure.data)}`).not.toContain('hunter2');
  }
});

test('a list has all pages and says apiVersion and kind of every item', async () => {
  const names = Array.from({ length: 2_020 }, (_, index) => `many-${String(index).padStart(4, '0')}`);
  await Promise.all(names.map((name) => git.apply(configMap(name, {}), { force: false })));
  const kind = await kindOf(git, 'v1', 'ConfigMap');
  const before = git.requests();
  const listed = await git.list(kind, namespace);
  expect(git.requests() - before).toBe(2);
  expect(listed.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('many-'))).toEqual(names);
  expect(listed.every(({ apiVersion, kind: each }) => apiVersion === 'v1' && each === 'ConfigMap')).toBe(true);
  const everywhere = await git.list(kind);
  expect(everywhere.filter(({ metadata }) => metadata.namespace === namespace)).toHaveLength(listed.length);
});

test('the result of a comparison with a list is right: nothing to do, or something', async () => {
  await git.apply(configMap('compared', { a: '1' }), { force: false });
  const listed = await git.list(await kindOf(git, 'v1', 'ConfigMap'), namespace);
  const live = listed.find(({ metadata }) => metadata.name === 'compared');
  const document = await git.schema('v1');
  const type = document && rootType(document, { group: '', version: 'v1', kind: 'ConfigMap' });
  expect(compare(configMap('compared', { a: '1' }), live!, type, 'skep-git').result).toBe('unchanged');
  expect(compare(configMap('compared', { a: '2' }), live!, type, 'skep-git').result).toBe('changed');
  expect(compare(configMap('compared', {}), live!, type, 'skep-git').result).toBe('changed');
});

test('a status is written for itself', async () => {
  const group = {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'MCPGroup',
    metadata: { name: 'reported', namespace },
    spec: { description: 'reported' },
  };
  await git.apply(group, { force: false });
  const status = {
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  };
  const { spec: _, ...rest } = group;
  const reported = await git.apply({ ...rest, status } as KubeObject, { force: true, subresource: 'status' });
  expect(reported.status).toMatchObject(status);
  expect(reported.spec).toMatchObject({ description: 'reported' });
  expect((await git.apply(group, { force: false })).status).toMatchObject(status);
});

test('a deletion wants the right uid, and what is gone already is fine', async () => {
  const doomed = await git.apply(configMap('doomed', {}), { force: false });
  expect((await failureOf(git.remove(idOf(doomed), OTHER_UID))).code).toBe('cluster-conflict');
  await git.remove(idOf(doomed), doomed.metadata.uid ?? '');
  await eventually(
    () => git.get(idOf(doomed)),
    (left) => left === undefined,
  );
  await git.remove(idOf(doomed), doomed.metadata.uid ?? '');
});

test('an owner goes after what it owns', async () => {
  const owner = await git.apply(configMap('owner', {}), { force: false });
  const uid = owner.metadata.uid ?? '';
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, controller: true, blockOwnerDeletion: true },
  ];
  const child = await git.apply(configMap('child', {}, { ownerReferences, finalizers: ['skep.dev/hold'] }), {
    force: false,
  });
  await git.remove(idOf(owner), uid);
  await eventually(
    () => git.get(idOf(child)),
    (left) => left?.metadata.deletionTimestamp !== undefined,
  );
  expect((await git.get(idOf(owner)))?.metadata.finalizers).toEqual(['foregroundDeletion']);
  await git.apply(configMap('child', {}, { ownerReferences }), { force: false });
  await eventually(
    () => git.get(idOf(child)),
    (left) => left === undefined,
  );
  await eventually(
    () => git.get(idOf(owner)),
    (left) => left === undefined,
  );
});

test('what a deleted owner leaves behind is collected', async () => {
  const owner = await git.apply(configMap('parent', {}), { force: false });
  const uid = owner.metadata.uid ?? '';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid, controller: true }];
  const child = await git.apply(configMap('orphan', {}, { ownerReferences }), { force: false });
  await git.remove(idOf(owner), uid);
  await eventually(
    () => git.get(idOf(owner)),
    (left) => left === undefined,
  );
  await eventually(
    () => git.get(idOf(child)),
    (left) => left === undefined,
  );
});

test('a lease goes to the first, and then to who read it last', async () => {
  const created = await git.create(
    lease({ holderIdentity: 'git', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' }),
  );
  expect((await failureOf(ops.create(lease({ holderIdentity: 'ops' })))).code).toBe('cluster-conflict');
  const renewed = await git.replace({
    ...created,
    spec: { holderIdentity: 'git', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:05.000000Z' },
  });
  expect((await failureOf(ops.replace({ ...created, spec: { holderIdentity: 'ops' } }))).code).toBe('cluster-conflict');
  const taken = await ops.replace({ ...renewed, spec: { holderIdentity: 'ops' } });
  expect(taken.spec).toMatchObject({ holderIdentity: 'ops' });
});

test('nothing gets into a namespace that is being deleted', async () => {
  const going = await server.namespace('going');
  const object = configMap('held', {}, { namespace: going, finalizers: ['skep.dev/hold'] });
  await git.apply(object, { force: false });
  const id = { apiVersion: 'v1', kind: 'Namespace', name: going };
  const living = await git.get(id);
  await git.remove(id, living?.metadata.uid ?? '');
  const late = await failureOf(git.apply(configMap('late', {}, { namespace: going }), { force: false }));
  expect(late).toMatchObject({
    code: 'cluster-namespace-leaving',
    data: { causes: [{ reason: 'NamespaceTerminating' }] },
  });
  await git.apply(configMap('held', {}, { namespace: going }), { force: false });
  await eventually(
    () => git.get(id),
    (left) => left === undefined,
  );
});
