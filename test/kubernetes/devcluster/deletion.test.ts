// Tests the deletion of dependents: in the background, in the foreground, orphans, whole namespaces.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const MAPS = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  cluster = await startTestCluster();
});

afterAll(() => cluster.stop());

interface Extra {
  readonly owner?: string;
  readonly blocks?: boolean;
  readonly finalizers?: readonly string[];
}

async function make(name: string, { owner, blocks = true, finalizers = [] }: Extra = {}): Promise<string> {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner?.split('/')[0], uid: owner?.split('/')[1] };
  const ownerReferences = owner === undefined ? [] : [{ ...reference, controller: true, blockOwnerDeletion: blocks }];
  const { status, body } = await cluster.send('POST', MAPS, {
    body: { metadata: { name, ownerReferences, finalizers } },
  });
  expect([status, body.message]).toEqual([201, undefined]);
  return `${name}/${body.metadata.uid}`;
}

async function exists(name: string): Promise<boolean> {
  return (await cluster.send('GET', `${MAPS}/${name}`)).status === 200;
}

async function gone(name: string): Promise<void> {
  await eventually(
    () => exists(name),
    (there) => !there,
  );
}

async function letGo(name: string): Promise<void> {
  const patch = { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' };
  expect((await cluster.send('PATCH', `${MAPS}/${name}`, patch)).status).toBe(200);
}

test('in the background the owner is deleted at once, its dependents and theirs after it', async () => {
  const owner = await make('bg-owner');
  const child = await make('bg-child', { owner });
  await make('bg-grandchild', { owner: child });
  await cluster.send('DELETE', `${MAPS}/bg-owner?propagationPolicy=Background`);
  expect(await exists('bg-owner')).toBe(false);
  await gone('bg-grandchild');
  expect(await exists('bg-child')).toBe(false);
});

test('in the foreground the owner waits for the dependents that block it', async () => {
  const owner = await make('fg-owner');
  await make('fg-child', { owner, finalizers: ['example.dev/hold'] });
  const answer = await cluster.send('DELETE', `${MAPS}/fg-owner?propagationPolicy=Foreground`);
  expect(answer.body.metadata.finalizers).toEqual(['foregroundDeletion']);
  const child = await eventually(
    () => cluster.send('GET', `${MAPS}/fg-child`),
    ({ body }) => body.metadata.deletionTimestamp !== undefined,
  );
  expect([child.status, await exists('fg-owner')]).toEqual([200, true]);
  await letGo('fg-child');
  await gone('fg-owner');
});

test('orphans stay, without the reference to their owner', async () => {
  const owner = await make('or-owner');
  await make('or-child', { owner });
  await cluster.send('DELETE', `${MAPS}/or-owner?propagationPolicy=Orphan`);
  await gone('or-owner');
  expect((await cluster.send('GET', `${MAPS}/or-child`)).body.metadata.ownerReferences).toBeUndefined();
});

test('an object of that name with another uid is not an owner', async () => {
  await make('known');
  await make('stray', { owner: 'known/00000000-0000-4000-8000-000000000000' });
  await gone('stray');
});

test('a finalizer keeps an object, which accepts no new ones, until it is removed', async () => {
  await make('held', { finalizers: ['example.dev/hold'] });
  const deleted = await cluster.send('DELETE', `${MAPS}/held`);
  expect(deleted.body.metadata.deletionTimestamp).toBeDefined();
  const more = { metadata: { finalizers: ['example.dev/hold', 'example.dev/more'] } };
  const refused = await cluster.send('PATCH', `${MAPS}/held`, {
    body: more,
    contentType: 'application/merge-patch+json',
  });
  expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, 'metadata.finalizers']);
  await letGo('held');
  expect(await exists('held')).toBe(false);
});

test('a deletion with a precondition that does not hold is a conflict', async () => {
  await make('guarded');
  const body = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } };
  const { status, body: answer } = await cluster.send('DELETE', `${MAPS}/guarded`, { body });
  expect([status, answer.reason, await exists('guarded')]).toEqual([409, 'Conflict', true]);
});

test('a collection is deleted by selector', async () => {
  for (const name of ['col-a', 'col-b']) {
    await cluster.send('POST', MAPS, { body: { metadata: { name, labels: { col: 'yes' } } } });
  }
  const { body } = await cluster.send('DELETE', `${MAPS}?labelSelector=col`);
  expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['col-a', 'col-b']);
  expect([await exists('col-a'), await exists('guarded')]).toEqual([false, true]);
});

test('a namespace is deleted with its objects, and accepts no new ones meanwhile', async () => {
  await cluster.send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'going' } } });
  const inside = '/api/v1/namespaces/going/configmaps';
  await cluster.send('POST', inside, { body: { metadata: { name: 'held', finalizers: ['example.dev/hold'] } } });
  const deleted = await cluster.send('DELETE', '/api/v1/namespaces/going');
  expect(deleted.body.status.phase).toBe('Terminating');
  const late = await cluster.send('POST', inside, { body: { metadata: { name: 'late' } } });
  expect([late.status, late.body.details.causes[0].reason]).toEqual([403, 'NamespaceTerminating']);
  await eventually(
    () => cluster.send('GET', `${inside}/held`),
    ({ body }) => body.metadata.deletionTimestamp !== undefined,
  );
  const patch = { body: { metadata: { finalizers: null } }, contentType: 'application/merge-patch+json' };
  await cluster.send('PATCH', `${inside}/held`, patch);
  await eventually(
    () => cluster.send('GET', '/api/v1/namespaces/going'),
    ({ status }) => status === 404,
  );
  expect((await cluster.send('GET', '/api/v1/namespaces/going/serviceaccounts')).body.items).toEqual([]);
});

test('the first namespaces stay', async () => {
  const { status, body } = await cluster.send('DELETE', '/api/v1/namespaces/default');
  expect([status, body.reason]).toEqual([403, 'Forbidden']);
});

test('garbage that was left when the server stopped is collected after its next start', async () => {
  const owner = await make('late-owner');
  await make('late-child', { owner, finalizers: ['example.dev/hold'] });
  await cluster.send('DELETE', `${MAPS}/late-owner?propagationPolicy=Foreground`);
  await cluster.restart();
  await letGo('late-child');
  await gone('late-owner');
});
