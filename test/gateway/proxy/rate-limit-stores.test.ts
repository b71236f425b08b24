// Tests problems of the rate limit store: keys of other servers, a clock that is set back, and invalid responses.

import { createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startBackend, type TestBackend } from './backend.ts';
import { callTool, runProxy, type TestedProxy } from './world.ts';

const redis: RedisServer | undefined = await startRedis();
let backend: TestBackend;
let running: TestedProxy[] = [];
beforeAll(async () => {
  backend = await startBackend();
});
afterEach(async () => {
  await Promise.all(running.map((proxy) => proxy.stop()));
  running = [];
});
afterAll(async () => {
  await backend.close();
  await redis?.stop();
});

interface Place {
  readonly address: string;
  readonly name: string;
  readonly namespace?: string;
  readonly keyPrefix?: string;
}

async function limited(place: Place, rate_limiting: RateLimitFields): Promise<TestedProxy> {
  const { address, name, namespace = 'tests', keyPrefix: key_prefix } = place;
  const proxy = await runProxy({
    ...{ name, namespace, target_host: '127.0.0.1', target_port: backend.port, rate_limiting },
    audit_config: { enabled: true, component: 'limited' },
    scaling_config: { session_redis: { address, db: 0, key_prefix } },
  });
  running.push(proxy);
  return proxy;
}

const ONE: RateLimitFields = {
  shared: { maxTokens: 1, refillPeriod: '1000h' },
  tools: [{ name: 'echo', shared: { maxTokens: 1, refillPeriod: '1000h' } }],
};

async function statusOf(proxy: TestedProxy): Promise<number> {
  return (await callTool(proxy, 'echo')).status;
}

describe.skipIf(redis === undefined)('in a Redis of several servers', () => {
  const address = redis?.address ?? '';

  it('servers with an equal key prefix have separate buckets', async () => {
    const places = [
      { name: 'mail', namespace: 'a' },
      { name: 'mail', namespace: 'b' },
      { name: 'wiki', namespace: 'a' },
    ];
    for (const place of places) {
      const proxy = await limited({ ...place, address, keyPrefix: 'common:' }, ONE);
      expect([await statusOf(proxy), await statusOf(proxy)]).toEqual([200, 429]);
    }
  });

  it('all buckets of a call are in one slot of a cluster', async () => {
    const proxy = await limited({ name: 'slots', address }, ONE);
    expect(await statusOf(proxy)).toBe(200);
    const client = new Redis(`redis://${address}`);
    const keys = await client.keys('*slots*');
    client.disconnect();
    expect(keys.length).toBe(2);
    expect(new Set(keys.map((key) => /\{([^}]+)\}/.exec(key)?.[1]))).toEqual(new Set(['tests/slots']));
  });

  it('a clock that is set back does not keep a bucket empty', async () => {
    const proxy = await limited({ name: 'clock', address }, { shared: { maxTokens: 1, refillPeriod: '100ms' } });
    expect(await statusOf(proxy)).toBe(200);
    const client = new Redis(`redis://${address}`);
    const [key = ''] = await client.keys('*clock*');
    await client.hset(key, { tokens: '0', at: String(Date.now() + 3_600_000) });
    await client.persist(key);
    client.disconnect();
    await expect.poll(() => statusOf(proxy)).toBe(200);
  });
});

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** Starts a server with a minimal Redis protocol that responds to scripts with `answer`. */
async function startFalseRedis(answer: string): Promise<string> {
  const info = 'redis_version:7.0.0\r\nloading:0\r\n';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const command of chunk
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        const name = command.split('\r\n')[1]?.toLowerCase();
        if (name === 'info') socket.write(`$${info.length}\r\n${info}\r\n`);
        else socket.write(name?.startsWith('eval') === true ? answer : '+OK\r\n');
      }
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

it.each([
  ['says nothing', ''],
  ['answers with texts', '*2\r\n$1\r\nx\r\n$1\r\ny\r\n'],
  ['names a bucket that is not there', '*2\r\n:9\r\n:5\r\n'],
  ['names a bucket before the first', '*2\r\n:-1\r\n:5\r\n'],
  ['answers with one number', '*1\r\n:0\r\n'],
  ['answers with an error', '-ERR out of order\r\n'],
])('a store that %s is handled like an unreachable store', async (_name, answer) => {
  const proxy = await limited({ name: 'nonsense', address: await startFalseRedis(answer) }, ONE);
  expect([await statusOf(proxy), await statusOf(proxy)]).toEqual([200, 429]);
  expect(proxy.audit.map(({ metadata }) => metadata.extra.rate_limits)).toEqual(['replica', 'replica']);
});
