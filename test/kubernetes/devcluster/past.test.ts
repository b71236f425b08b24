// Tests that watches and continue tokens from before the remembered past are expired.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
let dir: string;
const MAPS = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devcluster-'));
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'state.jsonl'), '{"journal":"devcluster","version":1,"revision":100}\n');
  cluster = await startTestCluster({ dir });
});

afterAll(async () => {
  await cluster.stop();
  await rm(dir, { recursive: true, force: true });
});

test('revisions continue from the stored one', async () => {
  const { body } = await cluster.send('POST', MAPS, { body: { metadata: { name: 'one' } } });
  expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(100);
});

test('a watch from before the remembered past receives an ERROR event', async () => {
  const events = await cluster.watch(`${MAPS}?watch=1&resourceVersion=5`, (lines) => lines.length >= 1);
  expect(events).toEqual([
    { type: 'ERROR', object: expect.objectContaining({ kind: 'Status', reason: 'Expired', code: 410 }) },
  ]);
});

test('an old continue token is expired, and the response has one that continues from now', async () => {
  for (const name of ['two', 'three']) await cluster.send('POST', MAPS, { body: { metadata: { name } } });
  const token = { v: 'meta.k8s.io/v1', rv: 5, start: 'default/one\u0000' };
  const old = Buffer.from(JSON.stringify(token)).toString('base64url');
  const { status, body } = await cluster.send('GET', `${MAPS}?limit=5&continue=${old}`);
  expect([status, body.reason]).toEqual([410, 'Expired']);
  const rest = await cluster.send('GET', `${MAPS}?limit=5&continue=${body.metadata.continue}`);
  expect(rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['three', 'two']);
});

test('an exact list at an old revision is expired', async () => {
  const { status, body } = await cluster.send('GET', `${MAPS}?resourceVersion=5&resourceVersionMatch=Exact`);
  expect([status, body.reason]).toEqual([410, 'Expired']);
});
