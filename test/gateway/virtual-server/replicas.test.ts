// Tests sessions that two replicas of a virtual server share in a real Redis.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { clientWith, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

const redis: RedisServer | undefined = await startRedis();
const KEY = { [VMCP_ENV.sessionHmacSecret]: 'k'.repeat(32) };

let wiki: TestMember;
beforeAll(async () => {
  wiki = await startMember({
    name: 'wiki',
    tools: [tool('echo'), tool('hang')],
    resources: [{ uri: 'wiki://r', name: 'r' }],
  });
});
afterAll(async () => {
  await wiki.close();
  await redis?.stop();
});

function settings(address: string, more: Partial<VmcpConfig> = {}): VmcpConfig {
  return configOf({ wiki }, { sessionStorage: { provider: 'redis', address, db: 0, keyPrefix: 'p:' }, ...more });
}

async function withReplicas(
  run: (first: TestedVirtualServer, second: TestedVirtualServer) => Promise<void>,
): Promise<void> {
  const replicas = await Promise.all([1, 2].map(() => runVirtual(settings(redis?.address ?? ''), KEY)));
  const [first, second] = replicas;
  try {
    if (first !== undefined && second !== undefined) await run(first, second);
  } finally {
    for (const each of replicas) await each.stop();
  }
}

describe.skipIf(redis === undefined)('with a store', () => {
  it('a session continues at another replica, with the same session at its backend', () =>
    withReplicas(async (first, second) => {
      const client = await connect(first);
      await client.ask('tools/call', { name: 'wiki_echo' });
      await client.ask('logging/setLevel', { level: 'error' });
      await first.stop();
      const there = clientWith(second.url, client.headers);
      expect((await there.ask('tools/list')).tools).toHaveLength(2);
      await there.ask('tools/call', { name: 'wiki_echo' });
      const sessions = wiki
        .calls('tools/call')
        .slice(-2)
        .map(({ headers }) => headers['mcp-session-id']);
      expect(sessions[0]).toBe(sessions[1]);
    }));

  it('an answer to a question reaches the backend through another replica', () =>
    withReplicas(async (first, second) => {
      const client = await connect(first, { elicitation: {} });
      const hanging = wiki.hanging();
      const stream = await client.open({ id: 1, method: 'tools/call', params: { name: 'wiki_hang' } });
      const { event, respond } = await hanging;
      event({ id: 9, method: 'elicitation/create', params: {} });
      const { id } = await stream.next();
      const { status } = await clientWith(second.url, client.headers).post({ id, result: { action: 'decline' } });
      expect(status).toBe(202);
      expect(wiki.asked.at(-1)?.message).toMatchObject({ id: 9, result: { action: 'decline' } });
      respond({ content: [] });
      expect(await stream.next()).toMatchObject({ id: 1, result: { content: [] } });
    }));

  it('a session that one replica ends is unknown to the others', () =>
    withReplicas(async (first, second) => {
      const client = await connect(first);
      const there = clientWith(second.url, client.headers);
      expect(await there.ask('ping')).toEqual({});
      expect((await client.end()).status).toBe(204);
      await expect.poll(async () => (await there.post({ id: 1, method: 'ping' })).status).toBe(404);
    }));
});

it('without a store another replica responds with 404, and the client begins a new session', async () => {
  const [first, second] = await Promise.all([1, 2].map(() => runVirtual(configOf({ wiki }), KEY)));
  const client = await connect(first ?? { url: '' });
  const { status, json } = await clientWith(second?.url ?? '', client.headers).post({ id: 1, method: 'ping' });
  expect([status, json.error.message]).toEqual([404, 'the session is not known, or has ended']);
  await first?.stop();
  await second?.stop();
});

describe('a server does not start', () => {
  it('with a store that cannot be reached', async () => {
    await expect(runVirtual(settings('127.0.0.1:1'), KEY)).rejects.toThrow('Redis at 127.0.0.1:1');
  });

  it('with a store and without a shared key', async () => {
    await expect(runVirtual(settings('127.0.0.1:1'))).rejects.toThrow(VMCP_ENV.sessionHmacSecret);
  });
});
