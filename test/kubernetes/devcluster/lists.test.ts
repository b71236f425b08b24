// Tests lists over HTTPS: pages of one state, past states, selectors, forms.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const MAPS = '/api/v1/namespaces/default/configmaps';
const PAGED = `${MAPS}?labelSelector=paged&limit=2`;

beforeAll(async () => {
  cluster = await startTestCluster();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await makeMap(name);
});

afterAll(() => cluster.stop());

async function makeMap(name: string): Promise<void> {
  const metadata = { name, labels: { paged: 'yes', letter: name } };
  expect((await cluster.send('POST', MAPS, { body: { metadata } })).status).toBe(201);
}

function names(body: { items: { metadata: { name: string } }[] }): string {
  return body.items.map((item) => item.metadata.name).join('');
}

test('pages show the state of the first page, whatever happens meanwhile', async () => {
  const first = await cluster.send('GET', PAGED);
  expect(names(first.body)).toBe('ab');
  await cluster.send('DELETE', `${MAPS}/c`);
  await makeMap('bb');
  const second = await cluster.send('GET', `${PAGED}&continue=${first.body.metadata.continue}`);
  const third = await cluster.send('GET', `${PAGED}&continue=${second.body.metadata.continue}`);
  expect([names(second.body), names(third.body), third.body.metadata.continue]).toEqual(['cd', 'e', undefined]);
  expect(third.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  expect(names((await cluster.send('GET', `${MAPS}?labelSelector=paged`)).body)).toBe('abbbde');
  await cluster.send('DELETE', `${MAPS}/bb`);
  await makeMap('c');
});

test('a page says how many remain, unless a selector makes that unknown', async () => {
  const all = await cluster.send('GET', `${MAPS}?limit=2`);
  expect(all.body.metadata.remainingItemCount).toBe(4);
  expect((await cluster.send('GET', PAGED)).body.metadata.remainingItemCount).toBeUndefined();
});

test('an exact resourceVersion shows the state at that time, a future one is a timeout', async () => {
  const before = await cluster.send('GET', `${MAPS}?labelSelector=paged`);
  const { resourceVersion } = before.body.metadata;
  await cluster.send('DELETE', `${MAPS}/a`);
  const exact = `${MAPS}?labelSelector=paged&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  expect(names((await cluster.send('GET', exact)).body)).toBe('abcde');
  const future = await cluster.send('GET', `${MAPS}?resourceVersion=999999`);
  expect([future.status, future.body.details.causes[0].reason]).toEqual([504, 'ResourceVersionTooLarge']);
  await makeMap('a');
});

test('a large list is compressed on request', async () => {
  const data = { filling: 'x'.repeat(60_000) };
  for (const name of ['l1', 'l2', 'l3']) await cluster.send('POST', MAPS, { body: { metadata: { name }, data } });
  const answer = await fetchCompressed(`${cluster.url}${MAPS}`);
  expect(answer.encoding).toBe('gzip');
  expect(answer.length).toBeLessThan(20_000);
});

async function fetchCompressed(url: string): Promise<{ encoding: string | undefined; length: number }> {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${cluster.token}`, 'accept-encoding': 'gzip' };
    const sent = request(url, { ca: cluster.authority, headers, agent: false }, (response) => {
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      response.on('end', () => resolve({ encoding: response.headers['content-encoding'], length }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
