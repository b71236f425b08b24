// Tests watches over HTTPS: events from a revision on, selectors, bookmarks, tables, timeouts.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const MAPS = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  cluster = await startTestCluster();
});

afterAll(() => cluster.stop());

interface Event {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly annotations?: object } };
}

function reported(events: readonly Event[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

async function change(name: string, labels: Record<string, string>): Promise<void> {
  const body = { metadata: { labels } };
  await cluster.send('PATCH', `${MAPS}/${name}`, { body, contentType: 'application/merge-patch+json' });
}

test('a watch from a revision sends everything after it, in order', async () => {
  const { body } = await cluster.send('GET', MAPS);
  await cluster.send('POST', MAPS, { body: { metadata: { name: 'seen' } } });
  await change('seen', { a: '1' });
  await cluster.send('DELETE', `${MAPS}/seen`);
  const path = `${MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`;
  const events = await cluster.watch(path, (lines) => lines.length >= 3);
  expect(reported(events)).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
});

test('an object that begins or ends to match a selector is added or deleted for this watch', async () => {
  const { body } = await cluster.send('GET', MAPS);
  await cluster.send('POST', MAPS, { body: { metadata: { name: 'selected' } } });
  await change('selected', { watched: 'yes' });
  await change('selected', { other: 'yes' });
  await change('selected', { watched: 'no' });
  const path = `${MAPS}?watch=1&labelSelector=watched%3Dyes&resourceVersion=${body.metadata.resourceVersion}`;
  const events = await cluster.watch(path, (lines) => lines.length >= 3);
  expect(reported(events)).toEqual(['ADDED selected', 'MODIFIED selected', 'DELETED selected']);
});

test('a running watch receives changes', async () => {
  const watching = cluster.watch(`${MAPS}?watch=1&fieldSelector=metadata.name%3Dlive`, (lines) => lines.length >= 2);
  await cluster.send('POST', MAPS, { body: { metadata: { name: 'live' } } });
  await cluster.send('DELETE', `${MAPS}/live`);
  expect(reported(await watching)).toEqual(['ADDED live', 'DELETED live']);
});

test('with initial events a bookmark marks their end', async () => {
  const options = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const path = `/api/v1/namespaces?${options}`;
  const events = await cluster.watch(path, (lines) => lines.some((line) => line.type === 'BOOKMARK'));
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
  expect(events.at(-1).object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  const refused = await cluster.send('GET', '/api/v1/namespaces?watch=1&sendInitialEvents=true');
  expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, 'resourceVersionMatch']);
});

test('a watch as a table names its columns in the first event only', async () => {
  const path = '/api/v1/namespaces?watch=1';
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const events = await cluster.watch(path, (lines) => lines.length >= 2, accept);
  expect(events.slice(0, 2).map(({ object }) => object.kind)).toEqual(['Table', 'Table']);
  expect(events[0].object.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'Status',
    'Age',
  ]);
  expect(events[1].object.columnDefinitions).toBeNull();
});

test('a watch ends when its time is over', async () => {
  const events = await cluster.watch('/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=1', () => false);
  expect(events.length).toBeGreaterThan(0);
});
