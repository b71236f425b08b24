// Tests tasks and other extensions behind a virtual server: clients can complete their tasks, and unsupported
// extensions do not reach backends.

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
import { askStateless, REVISION, statelessHeaders, statelessMeta, TASKS } from './stateless-client.ts';
import { clientWith, configOf, connect, postTo, runVirtual, type TestedVirtualServer } from './world.ts';

const OWN_ID = 'task of the member';

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

/** Responds as a server of 2026-07-28 that creates a task for each call if the client supports tasks. */
function answerWithTasks(received: Received): void {
  const { response, message } = received;
  const result = message === undefined ? undefined : resultOf(message);
  if (message?.method === 'subscriptions/listen') announce(response);
  else if (message === undefined || result === undefined) answerPlainly(received);
  else answerResult(response, message, result);
}

/** Sends notifications about the client's task and about another client's task. */
function announce(response: Received['response']): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const taskId of ['another', OWN_ID]) {
    const message = { jsonrpc: '2.0', method: 'notifications/tasks', params: { taskId, status: 'completed' } };
    response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
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
      return canGoOn ? { resultType: 'task', taskId: OWN_ID } : { resultType: 'complete', content: [] };
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
      return { taskId: OWN_ID, status: 'completed', result: { content: [] } };
    default:
      return undefined;
  }
}

function ask(
  method: string,
  params: object,
  name: string,
  extensions: readonly string[] = [TASKS],
  server: Pick<TestedVirtualServer, 'url'> = office,
) {
  return askStateless(server, method, params, name, Object.fromEntries(extensions.map((each) => [each, {}])));
}

function lastAsked(method: string) {
  return chart.received.findLast(({ message }) => message?.method === method);
}

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  'a client uses its task by %s, at the backend that created it',
  async (method) => {
    const made = await ask('tools/call', { name: 'chart_draw' }, 'chart_draw');
    const taskId: string = made?.result.taskId;
    expect([made?.result.resultType, taskId === OWN_ID]).toEqual(['task', false]);
    const asked = await ask(method, { taskId }, taskId);
    expect(asked?.result).toMatchObject({ taskId, status: 'completed' });
    const { message, request } = lastAsked(method) ?? {};
    expect([message?.params, request?.headers['mcp-name']]).toMatchObject([{ taskId: OWN_ID }, OWN_ID]);
  },
);

test('a client can use its task at a replica with the same secret, and at no other server', async () => {
  const secret = { VMCP_SESSION_HMAC_SECRET: 's'.repeat(40) };
  const config = configOf({ chart: { url: `http://127.0.0.1:${chart.port}/mcp` } });
  const replicas = [await runVirtual(config, secret), await runVirtual(config, secret), await runVirtual(config)];
  const [first = office, second = office, stranger = office] = replicas;
  const made = await ask('tools/call', { name: 'chart_draw' }, 'chart_draw', [TASKS], first);
  const taskId: string = made?.result.taskId;
  const answers = [first, second, stranger].map((each) => ask('tasks/get', { taskId }, taskId, [TASKS], each));
  const statuses = (await Promise.all(answers)).map((each) => each?.result?.status ?? each?.error.code);
  await Promise.all(replicas.map((each) => each.stop()));
  expect(statuses).toEqual(['completed', 'completed', -32602]);
});

test('requests about a task go to the backend that named it, even if it named a task of another backend', async () => {
  const invented = `chart ${OWN_ID}`;
  const liar = await startServer((received) => {
    const { response, message } = received;
    const result = message === undefined ? undefined : resultOf(message);
    if (message === undefined || result === undefined) answerPlainly(received);
    else answerResult(response, message, 'taskId' in result ? { ...result, taskId: invented } : result);
  });
  const [own, other] = [liar, chart].map(({ port }) => ({ url: `http://127.0.0.1:${port}/mcp` }));
  const server = await runVirtual(configOf({ liar: own ?? wiki, chart: other ?? wiki }));
  const made = await ask('tools/call', { name: 'liar_draw' }, 'liar_draw', [TASKS], server);
  const before = chart.received.length;
  await ask('tasks/get', { taskId: made?.result.taskId }, made?.result.taskId, [TASKS], server);
  const asked = liar.received.findLast(({ message }) => message?.method === 'tasks/get');
  await server.stop();
  expect(asked?.message?.params).toMatchObject({ taskId: invented });
  expect(chart.received.slice(before).filter(({ message }) => message?.method === 'tasks/get')).toEqual([]);
});

test('a listening client gets notifications about its task from its backend, with its own id', async () => {
  const made = await ask('tools/call', { name: 'chart_draw' }, 'chart_draw');
  const taskId: string = made?.result.taskId;
  const extensions = { [TASKS]: {} };
  const params = { notifications: { taskIds: [taskId] }, _meta: statelessMeta(extensions) };
  const client = clientWith(office.url, statelessHeaders('subscriptions/listen', ''));
  const stream = await client.open({ id: 7, method: 'subscriptions/listen', params });
  expect(await stream.next()).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
  expect(await stream.next()).toMatchObject({ method: 'notifications/tasks', params: { taskId, status: 'completed' } });
  stream.close();
});

test('ten thousand tasks have different ids, and an id of a megabyte is refused', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 100; round += 1) {
    const calls = Array.from({ length: 100 }, () => ask('tools/call', { name: 'chart_draw' }, 'chart_draw'));
    for (const made of await Promise.all(calls)) seen.add(made?.result.taskId);
  }
  expect(seen.size).toBe(10_000);
  const params = { taskId: 'x'.repeat(1_000_000), _meta: {} };
  expect((await ask('tasks/get', params, 'short'))?.error.code).toBeLessThan(0);
});

test('the id of a backend is not accepted from a client', async () => {
  const before = chart.received.length;
  expect((await ask('tasks/get', { taskId: OWN_ID }, OWN_ID))?.error.code).toBe(-32602);
  expect(chart.received.slice(before).filter(({ message }) => message?.method === 'tasks/get')).toEqual([]);
});

test('tasks are offered only to clients of 2026-07-28', async () => {
  const discovered = await ask('server/discover', {}, '');
  expect(discovered?.result.capabilities.extensions).toEqual({ [TASKS]: {} });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(office.url, { id: 0, method: 'initialize', params });
  expect(begun.json?.result.capabilities).not.toHaveProperty('extensions');
});

test('other extensions do not reach a backend, and the rest of the request is unchanged', async () => {
  const params = { name: 'chart_draw', arguments: { big: '9007199254740993' } };
  const answer = await ask('tools/call', params, 'chart_draw', ['com.example/other']);
  expect(answer?.result).toMatchObject({ resultType: 'complete', content: [] });
  const got = lastAsked('tools/call')?.message?.params;
  expect(got).toMatchObject({
    name: 'draw',
    arguments: { big: '9007199254740993' },
    _meta: { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } },
  });
  expect(JSON.stringify(got)).not.toContain('extensions');
});

test('a backend with sessions gets no requests for tasks', async () => {
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

test('a client with a session can use tasks of tools that support them, at their backend', async () => {
  const draw = tool('draw', { execution: { taskSupport: 'optional' } });
  const results = { draw: () => ({ task: { taskId: OWN_ID, status: 'working' } }) };
  const painter = await startMember({ name: 'painter', tools: [draw, tool('look')], results });
  const server = await runVirtual(configOf({ painter }));
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await postTo(server.url, { id: 0, method: 'initialize', params });
  const discovered = await ask('server/discover', {}, '', [], server);
  const client = await connect(server);
  const made = await client.ask('tools/call', { name: 'painter_draw', task: { ttl: 1000 }, arguments: {} });
  await client.ask('tools/call', { name: 'painter_look', task: { ttl: 1000 }, arguments: {} });
  const { taskId } = made.task;
  const answers = ['tasks/get', 'tasks/result', 'tasks/cancel'].map((method) => client.ask(method, { taskId }));
  const got = (await Promise.all(answers)).map((each) => each.got);
  const byOwnId = await client.ask('tasks/get', { taskId: OWN_ID });
  const sent = painter.calls('tools/call').map(({ message }) => message.params.task);
  await server.stop();
  await painter.close();
  expect(begun.json?.result.capabilities.tasks).toEqual({ requests: { tools: { call: {} } } });
  expect(discovered?.result.capabilities).not.toHaveProperty('tasks');
  expect(sent).toEqual([{ ttl: 1000 }, undefined]);
  expect(got).toEqual([{ taskId: OWN_ID }, { taskId: OWN_ID }, { taskId: OWN_ID }]);
  expect(byOwnId.error.code).toBe(-32602);
});

test('the optimizer gets the result of a call instead of a task', async () => {
  const url = `http://127.0.0.1:${chart.port}/mcp`;
  const optimizer = {
    maxToolsToReturn: 8,
    embeddingServiceTimeout: '30s',
    hybridSearchSemanticRatio: '0.5',
    semanticDistanceThreshold: '0.5',
  };
  const optimized = await runVirtual(configOf({ chart: { url } }, { optimizer }));
  const params = { name: 'call_tool', arguments: { tool_name: 'chart_draw', parameters: {} } };
  const answer = await ask('tools/call', params, 'call_tool', [TASKS], optimized);
  await optimized.stop();
  expect(answer?.result).toMatchObject({ resultType: 'complete', content: [] });
  expect(JSON.stringify(lastAsked('tools/call')?.message?.params)).not.toContain('extensions');
});
