// Extensions and tasks behind a virtual server, which offers none: a call ends with its result.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  answerPlainly,
  answerResult,
  type Received,
  type Rpc,
  startServer,
  stopAll,
  type TestServer,
} from '../proxy/rig.ts';
import { startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const REVISION = '2026-07-28';
const TASKS = 'io.modelcontextprotocol/tasks';

let wiki: TestMember;
let chart: TestServer;
let office: TestedVirtualServer;

beforeAll(async () => {
  wiki = await startMember({ name: 'wiki', tools: [tool('find')] });
  chart = await startServer(answerWithTasks);
  office = await runVirtual(configOf({ wiki, chart: { url: `http://127.0.0.1:${chart.port}/mcp` } }));
});
afterAll(async () => {
  await office.stop();
  await wiki.close();
  await stopAll();
});

/** A server of 2026-07-28 that makes a task of each call if the client can go on with one. */
function answerWithTasks(received: Received): void {
  const { response, message } = received;
  const result = message === undefined ? undefined : resultOf(message);
  if (message === undefined || result === undefined) answerPlainly(received);
  else answerResult(response, message, result);
}

function resultOf({ method, params }: Rpc): object | undefined {
  const lists = { ttlMs: 0, cacheScope: 'private' };
  const canGoOn = JSON.stringify({ params }).includes(TASKS);
  switch (method) {
    case 'server/discover':
      return { supportedVersions: [REVISION], capabilities: { tools: {}, extensions: { [TASKS]: {} } }, ...lists };
    case 'tools/list':
      return { tools: [{ name: 'draw', inputSchema: { type: 'object' } }], ...lists };
    case 'tools/call':
      return canGoOn ? { resultType: 'task', taskId: 't1' } : { resultType: 'complete', content: [] };
    default:
      return undefined;
  }
}

test('a member of 2026-07-28 does not hear of extensions that the virtual server cannot carry', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { sampling: {}, extensions: { [TASKS]: {} } },
  };
  const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/call', 'mcp-name': 'chart_draw' };
  const params = { name: 'chart_draw', arguments: { big: '9007199254740993' }, _meta };
  const { json } = await postTo(office.url, { id: 1, method: 'tools/call', params }, headers);
  expect(json?.result).toMatchObject({ resultType: 'complete', content: [] });
  const got = chart.received.findLast(({ message }) => message?.method === 'tools/call')?.message?.params;
  expect(got).toMatchObject({
    name: 'draw',
    arguments: { big: '9007199254740993' },
    _meta: { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } },
  });
  expect(JSON.stringify(got)).not.toContain('extensions');
});

test('a member with sessions is asked for no task', async () => {
  const capabilities = { sampling: {}, tasks: { cancel: {} }, extensions: { [TASKS]: {} } };
  const client = await connect(office, capabilities);
  const result = await client.ask('tools/call', { name: 'wiki_find', task: { ttl: 1000 }, arguments: {} });
  expect(result.content).toHaveLength(1);
  expect(wiki.calls('tools/call').at(-1)?.message.params).toEqual({ name: 'find', arguments: {} });
  const begun = wiki.asked.filter(({ message }) => message?.method === 'initialize');
  const declared = begun.map(({ message }) => message.params.capabilities);
  expect(declared).toContainEqual({ sampling: {} });
  expect(JSON.stringify(declared)).not.toMatch(/tasks/);
});
