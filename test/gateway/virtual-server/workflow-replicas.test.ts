// Tests requests about a workflow run at another replica than the replica that runs it, with a shared Redis.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VMCP_ENV } from '#contracts/vmcp-config.ts';
import { type RedisServer, startRedis } from '../../harness/redis.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { readCalled, workflow } from './workflow-world.ts';
import { clientWith, configOf, connect, runVirtual, type TestedVirtualServer } from './world.ts';

const redis: RedisServer | undefined = await startRedis();
const KEY = { [VMCP_ENV.sessionHmacSecret]: 'k'.repeat(32) };

let wiki: TestMember;
let replicas: readonly TestedVirtualServer[] = [];

beforeAll(async () => {
  if (redis === undefined) return;
  wiki = await startMember({ name: 'wiki', tools: [tool('echo')] });
  const ask = { id: 'ask', type: 'elicitation', message: 'Sure?', schema: { type: 'object', properties: {} } };
  const echo = {
    id: 'echo',
    tool: 'wiki.echo',
    dependsOn: ['ask'],
    arguments: { said: '{{.steps.ask.output.action}}' },
  };
  const config = configOf(
    { wiki },
    {
      compositeTools: [workflow([ask, echo])],
      sessionStorage: { provider: 'redis', address: redis.address, db: 0, keyPrefix: 'w:' },
    },
  );
  replicas = await Promise.all([1, 2].map(() => runVirtual(config, KEY)));
});
afterAll(async () => {
  for (const each of replicas) await each.stop();
  await wiki?.close();
  await redis?.stop();
});

const CALL = { id: 5, method: 'tools/call', params: { name: 'flow', arguments: {} } };

describe.skipIf(redis === undefined)('with a store', () => {
  it('a client can reconnect to another replica, for the stream and with its answer', async () => {
    const [first, second] = replicas as [TestedVirtualServer, TestedVirtualServer];
    const client = await connect(first, { elicitation: {} });
    const stream = await client.open(CALL);
    const { id } = await stream.next();
    stream.close();
    const there = clientWith(second.url, client.headers);
    const again = await there.open(undefined, { 'last-event-id': stream.lastId() ?? '' });
    expect((await there.post({ id, result: { action: 'accept', content: {} } })).status).toBe(202);
    const called = readCalled((await again.next()).result);
    expect(JSON.parse(called.output.text).args).toEqual({ said: 'accept' });
    again.close();
  });

  it('a client without sessions gets an error from another replica, and can repeat its call there', async () => {
    const [first, second] = replicas as [TestedVirtualServer, TestedVirtualServer];
    const capabilities = { elicitation: { form: {} } };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'flow' };
    const call = (server: TestedVirtualServer, more: object = {}) =>
      clientWith(server.url, headers).ask('tools/call', { ...CALL.params, _meta, ...more });
    const { inputRequests, requestState } = await call(first);
    const [key = ''] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept', content: {} } };
    expect((await call(second, { inputResponses, requestState })).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/waits in another replica\. Make the call again without requestState$/),
    });
    // The run at the first replica still waits. The second replica runs its own call.
    expect(readCalled(await call(first, { inputResponses, requestState })).isError).toBe(false);
    const again = await call(second);
    const [other = ''] = Object.keys(again.inputRequests);
    const answers = { [other]: { action: 'accept', content: {} } };
    const ended = await call(second, { inputResponses: answers, requestState: again.requestState });
    expect(readCalled(ended).isError).toBe(false);
  });

  it('a workflow runs in a session that began at another replica', async () => {
    const [first, second] = replicas as [TestedVirtualServer, TestedVirtualServer];
    const client = await connect(first, { elicitation: {} });
    const opened = await client.open(CALL);
    await client.post({ id: (await opened.next()).id, result: { action: 'accept', content: {} } });
    await opened.next();
    const there = clientWith(second.url, client.headers);
    const stream = await there.open(CALL);
    await there.post({ id: (await stream.next()).id, result: { action: 'accept', content: {} } });
    expect(readCalled((await stream.next()).result).isError).toBe(false);
    stream.close();
    opened.close();
  });
});
