// Tests the server itself: who may connect, the counted requests, injected faults, the state after a kill.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startDevcluster } from '#kubernetes/devcluster/devcluster.ts';
import { REAL_CLOCK, startTestCluster, type TestCluster } from '../../harness/cluster.ts';

let cluster: TestCluster;
const MAPS = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  cluster = await startTestCluster();
});

afterAll(() => cluster.stop());

beforeEach(() => {
  cluster.cluster.faults.clear();
  cluster.cluster.resetCounters();
});

test.each([null, 'wrong', ''])(
  'with the token %j a client gets a 401, except for health and version',
  async (token) => {
    const { status, body } = await cluster.send('GET', MAPS, { token });
    expect([status, body.reason]).toEqual([401, 'Unauthorized']);
    expect((await cluster.send('GET', '/readyz', { token })).text).toBe('ok');
    expect((await cluster.send('GET', '/version', { token })).body.major).toBe('1');
  },
);

test('keys and kubeconfig are for their owner only', () => {
  const dir = dirname(cluster.kubeconfigPath);
  const modes = readdirSync(dir).map(
    (name) => `${name.replace(/^lock\..*/, 'lock')} ${(statSync(join(dir, name)).mode & 0o777).toString(8)}`,
  );
  expect(modes.sort()).toEqual([
    'identity.json 600',
    'kubeconfig 600',
    'lock 600',
    'service-accounts.key 600',
    'state.jsonl 600',
  ]);
});

test('a second server on the same directory is refused', async () => {
  const dir = dirname(cluster.kubeconfigPath);
  await expect(startDevcluster({ dir, clock: REAL_CLOCK })).rejects.toMatchObject({ code: 'devcluster-locked' });
});

test('a port that is taken is refused, and the directory is free again', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'devcluster-'));
  const port = Number(new URL(cluster.url).port);
  await expect(startDevcluster({ dir, port, clock: REAL_CLOCK })).rejects.toMatchObject({
    code: 'devcluster-port-taken',
  });
  const other = await startDevcluster({ dir, clock: REAL_CLOCK });
  await other.stop();
  rmSync(dir, { recursive: true });
});

test('requests are counted by verb and resource, lists without their further pages, dry runs separately', async () => {
  for (const name of ['one', 'two', 'three']) await cluster.send('POST', MAPS, { body: { metadata: { name } } });
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };
  await cluster.apply(`${MAPS}/one`, object, 'fieldManager=a&dryRun=All');
  const { body } = await cluster.send('GET', `${MAPS}?limit=1`);
  await cluster.send('GET', `${MAPS}?limit=1&continue=${body.metadata.continue}`);
  await cluster.send('GET', '/api');
  const counted = cluster.cluster.counters();
  expect(counted).toEqual({
    requests: { create: { configmaps: 3 }, apply: { configmaps: 1 }, list: { configmaps: 2 } },
    lists: { configmaps: 1 },
    writes: { configmaps: 3 },
    dryRuns: { configmaps: 1 },
    total: 6,
    others: 1,
  });
  expect((await cluster.send('GET', '/devcluster/counters')).body).toMatchObject({ total: 6 });
  expect((await cluster.send('DELETE', '/devcluster/counters')).body.total).toBe(0);
});

test('an injected status replaces the operation, as often as requested', async () => {
  const { faults } = cluster.cluster;
  faults.add({
    match: { verb: 'create', resource: 'configmaps' },
    action: { status: 429, retryAfterSeconds: 7 },
    times: 1,
  });
  const refused = await cluster.send('POST', MAPS, { body: { metadata: { name: 'late' } } });
  expect([refused.status, refused.body.reason, refused.headers['retry-after']]).toEqual([429, 'TooManyRequests', '7']);
  expect((await cluster.send('POST', MAPS, { body: { metadata: { name: 'late' } } })).status).toBe(201);
});

test('a fault can hit the n-th matching request only', async () => {
  cluster.cluster.faults.add({ match: { verb: 'get', name: 'kube-root-ca.crt', nth: 2 }, action: { status: 500 } });
  const ask = async () => (await cluster.send('GET', `${MAPS}/kube-root-ca.crt`)).status;
  expect([await ask(), await ask(), await ask()]).toEqual([200, 500, 200]);
});

test('a connection dropped before performs nothing, one dropped after performs everything', async () => {
  const { faults } = cluster.cluster;
  for (const drop of ['before', 'after'] as const) {
    faults.clear();
    faults.add({ match: { verb: 'write' }, action: { drop } });
    await expect(cluster.send('POST', MAPS, { body: { metadata: { name: `drop-${drop}` } } })).rejects.toThrow();
  }
  faults.clear();
  expect((await cluster.send('GET', `${MAPS}/drop-before`)).status).toBe(404);
  expect((await cluster.send('GET', `${MAPS}/drop-after`)).status).toBe(200);
});

test('another process injects faults over HTTP', async () => {
  const fault = { match: { verb: 'list', resource: '/configmaps' }, action: { delayMs: 1 }, times: 1 };
  expect((await cluster.send('POST', '/devcluster/faults', { body: fault })).body).toEqual(fault);
  expect((await cluster.send('GET', MAPS)).status).toBe(200);
  const broken = { match: { verb: 'list' }, action: { status: 503 } };
  await cluster.send('POST', '/devcluster/faults', { body: broken });
  expect((await cluster.send('GET', MAPS)).status).toBe(503);
  expect((await cluster.send('POST', '/devcluster/faults', { body: { match: {} } })).status).toBe(400);
  await cluster.send('DELETE', '/devcluster/faults');
  expect((await cluster.send('GET', MAPS)).status).toBe(200);
});

test('a body above the limit is refused', async () => {
  const body = { metadata: { name: 'huge' }, data: { a: 'x'.repeat(4_000_000) } };
  const { status, body: answer } = await cluster.send('POST', MAPS, { body });
  expect([status, answer.reason]).toEqual([413, 'RequestEntityTooLarge']);
});

/** Starts a server in a process of its own, to be killed. */
async function forkServer(
  dir: string,
): Promise<{ child: ChildProcess; url: string; token: string; authority: string }> {
  const child = fork(join(import.meta.dirname, 'server-process.ts'), [dir], { execArgv: [], stdio: 'inherit' });
  const started = await new Promise<{ url: string; token: string; authority: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url: string; token: string; authority: string }));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, ...started };
}

test('writes that were answered before a kill -9 exist after the next start', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'devcluster-'));
  const answered = new Map<string, string>();
  try {
    for (let round = 0; round < 4; round += 1) {
      const { child, url, token, authority } = await forkServer(dir);
      const client = await connectTo(url, token, authority);
      for (const [name, uid] of answered) expect(await client.uidOf(name), name).toBe(uid);
      const exit = new Promise((resolve) => child.once('exit', resolve));
      const writing = client.writeUntilItBreaks(`r${round}`, answered);
      setTimeout(() => child.kill('SIGKILL'), 100 + round * 40);
      await Promise.all([writing, exit]);
    }
    expect(answered.size).toBeGreaterThan(8);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

async function connectTo(url: string, token: string, authority: string) {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connect: { ca: authority } });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const read = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await request(`${url}${path}`, { dispatcher, method, headers, ...payload });
    return (await answer.body.json()) as { metadata: { uid: string } };
  };
  return {
    uidOf: async (name: string) => (await read('GET', `${MAPS}/${name}`)).metadata.uid,
    writeUntilItBreaks: async (prefix: string, answered: Map<string, string>) => {
      for (let index = 0; ; index += 1) {
        const name = `${prefix}-${index}`;
        const made = await read('POST', MAPS, { metadata: { name } }).catch(() => undefined);
        if (made === undefined) break;
        answered.set(name, made.metadata.uid);
      }
      await dispatcher.destroy();
    },
  };
}
