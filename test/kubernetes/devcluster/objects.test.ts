// Tests single objects over HTTPS: create, read, replace, patch, apply, delete.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startTestCluster();
});

afterAll(() => cluster.stop());

const MAPS = '/api/v1/namespaces/default/configmaps';

test('a created object is read back with the fields that only the server sets', async () => {
  const created = await cluster.send('POST', MAPS, { body: { metadata: { name: 'made' }, data: { a: '1' } } });
  expect(created.status).toBe(201);
  const { uid, resourceVersion, creationTimestamp } = created.body.metadata;
  expect(uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const read = await cluster.send('GET', `${MAPS}/made`);
  expect(read.body).toEqual(created.body);
  expect(Number(resourceVersion)).toBeGreaterThan(0);
});

test('a second create under the same name is refused as AlreadyExists', async () => {
  await cluster.send('POST', MAPS, { body: { metadata: { name: 'twice' } } });
  const { status, body } = await cluster.send('POST', MAPS, { body: { metadata: { name: 'twice' } } });
  expect([status, body.reason, body.message]).toEqual([409, 'AlreadyExists', 'configmaps "twice" already exists']);
  expect(body.details).toEqual({ name: 'twice', kind: 'configmaps' });
});

test('a replace from an outdated resourceVersion is a conflict, one from the newest is accepted', async () => {
  const { body } = await cluster.send('POST', MAPS, { body: { metadata: { name: 'replaced' }, data: { a: '1' } } });
  const next = { ...body, data: { a: '2' } };
  const taken = await cluster.send('PUT', `${MAPS}/replaced`, { body: next });
  expect([taken.status, taken.body.data.a]).toEqual([200, '2']);
  const late = await cluster.send('PUT', `${MAPS}/replaced`, { body: { ...next, data: { a: '3' } } });
  expect([late.status, late.body.reason]).toEqual([409, 'Conflict']);
});

test('a dry run responds like a write and stores nothing', async () => {
  const dry = await cluster.send('POST', `${MAPS}?dryRun=All`, { body: { metadata: { name: 'dry' } } });
  expect([dry.status, dry.body.metadata.resourceVersion]).toEqual([201, undefined]);
  expect((await cluster.send('GET', `${MAPS}/dry`)).status).toBe(404);
});

test('an apply creates, records what its manager owns, and conflicts with another manager unless forced', async () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } };
  const path = `${MAPS}/applied`;
  const first = await cluster.apply(path, object, 'fieldManager=one');
  expect([first.status, first.body.metadata.managedFields[0].manager]).toEqual([201, 'one']);
  const refused = await cluster.apply(path, { ...object, data: { a: '2' } }, 'fieldManager=two');
  expect([refused.status, refused.body.details.causes]).toEqual([
    409,
    [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
  ]);
  const forced = await cluster.apply(path, { ...object, data: { a: '2' } }, 'fieldManager=two&force=true');
  expect([forced.status, forced.body.data.a]).toEqual([200, '2']);
});

test('an apply that changes nothing keeps the resourceVersion', async () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'still' }, data: { a: '1' } };
  const first = await cluster.apply(`${MAPS}/still`, object);
  const again = await cluster.apply(`${MAPS}/still`, object);
  expect(again.body.metadata).toEqual(first.body.metadata);
});

test('a deletion returns a Status with the uid, and the object no longer exists', async () => {
  const { body } = await cluster.send('POST', MAPS, { body: { metadata: { name: 'gone' } } });
  const deleted = await cluster.send('DELETE', `${MAPS}/gone`);
  expect(deleted.body).toMatchObject({
    status: 'Success',
    details: { name: 'gone', kind: 'configmaps', uid: body.metadata.uid },
  });
  expect((await cluster.send('GET', `${MAPS}/gone`)).status).toBe(404);
});

test('state survives a restart with its uids and resource versions', async () => {
  const { body } = await cluster.send('POST', MAPS, { body: { metadata: { name: 'kept' }, data: { a: '1' } } });
  await cluster.restart();
  expect((await cluster.send('GET', `${MAPS}/kept`)).body).toEqual(body);
});
