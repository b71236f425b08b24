// Tests rate limits that replicas of a virtual server share, for calls by clients, by call_tool and by workflows.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimitFields } from '#contracts/gate/rate-limiting.ts';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startEmbeddings, type TestEmbeddings } from './embeddings.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { workflow } from './workflow-world.ts';
import { type Client, clientWith, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

const redis: RedisServer | undefined = await startRedis();
const KEY = { [VMCP_ENV.sessionHmacSecret]: 'k'.repeat(32) };
const ONE = { maxTokens: 1, refillPeriod: '1000h' };

let wiki: TestMember;
let embeddings: TestEmbeddings;
let running: TestedVirtualServer[] = [];
let names = 0;
beforeAll(async () => {
  wiki = await startMember({ name: 'wiki', tools: [tool('find'), tool('read')] });
  embeddings = await startEmbeddings();
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
});
afterAll(async () => {
  await Promise.all([wiki.close(), embeddings.close()]);
  await redis?.stop();
});

async function clients(rateLimiting: RateLimitFields, more: Partial<VmcpConfig> = {}): Promise<[Client, Client]> {
  names += 1;
  const keyPrefix = `limits-${names}:`;
  const sessionStorage = { provider: 'redis' as const, address: redis?.address ?? '', db: 0, keyPrefix };
  const config = configOf({ wiki }, { sessionStorage, rateLimiting, ...more });
  running = await Promise.all([1, 2].map(() => runVirtual(config, KEY)));
  const [first, second] = running;
  const client = await connect(first ?? { url: '' });
  return [client, clientWith(second?.url ?? '', client.headers)];
}

async function statuses(calls: readonly (readonly [Client, string, object?])[]): Promise<number[]> {
  const seen: number[] = [];
  for (const [client, name, args = {}] of calls)
    seen.push((await client.post({ id: 7, method: 'tools/call', params: { name, arguments: args } })).status);
  return seen;
}

describe.skipIf(redis === undefined)('limits of a virtual server', () => {
  it('use the names that clients see, and are shared by all replicas', async () => {
    const [here, there] = await clients({ tools: [{ name: 'wiki_find', shared: ONE }] });
    expect(
      await statuses([
        [here, 'wiki_find'],
        [there, 'wiki_find'],
        [there, 'wiki_read'],
      ]),
    ).toEqual([200, 429, 200]);
  });

  it('apply to tools that call_tool calls', async () => {
    const [here, there] = await clients(
      { tools: [{ name: 'wiki_find', shared: ONE }] },
      {
        optimizer: {
          embeddingService: embeddings.url,
          maxToolsToReturn: 8,
          embeddingServiceTimeout: '30s',
          hybridSearchSemanticRatio: '0.5',
          semanticDistanceThreshold: '0.5',
        },
      },
    );
    const find = { tool_name: 'wiki_find', parameters: {} };
    expect(
      await statuses([
        [here, 'call_tool', find],
        [there, 'call_tool', find],
        [there, 'call_tool', { tool_name: 'wiki_read', parameters: {} }],
      ]),
    ).toEqual([200, 429, 200]);
  });

  it('apply to steps of workflows, and count a workflow as one call of the virtual server', async () => {
    const steps = [{ id: 'one', tool: 'wiki.find', arguments: {} }];
    const [here, there] = await clients(
      { shared: { maxTokens: 3, refillPeriod: '1000h' }, tools: [{ name: 'wiki_find', shared: ONE }] },
      { compositeTools: [workflow(steps)] },
    );
    const called = () =>
      wiki.asked.filter(({ method, message }) => method === 'tools/call' || message?.method === 'tools/call').length;
    const before = called();
    const call = { name: 'flow', arguments: {} };
    expect(await here.ask('tools/call', call)).not.toHaveProperty('isError');
    const refused = await there.ask('tools/call', call);
    expect(JSON.stringify(refused)).toContain('was called too often: try again in');
    expect(called() - before).toBe(1);
    expect(
      await statuses([
        [there, 'wiki_read'],
        [here, 'wiki_read'],
      ]),
    ).toEqual([200, 429]);
  });
});
