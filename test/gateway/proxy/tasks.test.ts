// Tests tasks of a server behind policies: a client can complete its own tasks, and no other client can use their ids.
// In one file, because all tests share one server with tasks, and a proxy that permits every call.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunConfig } from '#contracts/run-config.ts';
import type { JsonObject } from '#std/json.ts';
import {
  type AttackedProxy,
  answerResult,
  INITIALIZE,
  post,
  proxyBefore,
  type Received,
  startServer,
  stopAll,
  type TestServer,
} from './rig.ts';

const REVISION = '2026-07-28';
const OWN_ID = 'task of the server';

let folder: string;
let server: TestServer;
let permissive: AttackedProxy;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skep-tasks-'));
  await writeFile(join(folder, 'key'), 'k'.repeat(40));
  server = await startServer(answerTasks);
  permissive = await replica(['permit(principal, action, resource);']);
});
afterAll(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

let files = 0;

/** Starts a replica of a proxy. All replicas have the same key. */
async function replica(
  policies: readonly string[] | undefined,
  settings: Partial<RunConfig> = {},
): Promise<AttackedProxy> {
  files += 1;
  const path = join(folder, `authz${files}.json`);
  await writeFile(path, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies } }));
  const authz = policies === undefined ? {} : { authz_config_path: path };
  return proxyBefore(server.port, { session_key_files: [join(folder, 'key')], ...authz, ...settings });
}

function answerTasks({ response, message }: Received): void {
  const { method, params } = message ?? {};
  const stateless = JSON.stringify({ params }).includes(REVISION);
  const text = JSON.stringify({ params }).includes('"large":true') ? 'done'.repeat(500_000) : 'done';
  const task = { taskId: OWN_ID, status: 'completed', result: { content: [{ type: 'text', text }] } };
  if (message === undefined || message.id === undefined) response.writeHead(202).end();
  else if (method === 'subscriptions/listen') announce(response);
  else if (method === 'server/discover') answerResult(response, message, DISCOVERED);
  else if (method === 'initialize') {
    const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
    answerResult(response, message, { ...INITIALIZED, capabilities });
  } else if (method === 'tools/call') {
    answerResult(response, message, stateless ? { resultType: 'task', ...task } : { task });
  } else if (method === 'tasks/result' && JSON.stringify(params).includes('"speaks":true')) speak(response, message);
  else if (method === 'tasks/result') {
    const related = { 'io.modelcontextprotocol/related-task': { taskId: OWN_ID } };
    answerResult(response, message, { ...task.result, _meta: related });
  } else answerResult(response, message, task);
}

/** Sends the statuses of the client's task and of another task, a question about the task, and the result. */
function speak(response: Received['response'], { id }: NonNullable<Received['message']>): void {
  const _meta = { 'io.modelcontextprotocol/related-task': { taskId: OWN_ID } };
  const messages = [
    { method: 'notifications/tasks/status', params: { taskId: OWN_ID, status: 'input_required' } },
    { method: 'notifications/tasks/status', params: { taskId: 'another', status: 'failed' } },
    { id: 'q', method: 'elicitation/create', params: { message: 'Which?', requestedSchema: {}, _meta } },
    { id, result: { content: [], _meta } },
  ];
  const text = messages.map((each) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`).join('');
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
}

/** Sends notifications about the task that the client named, if any, and about another client's task. */
function announce(response: Received['response']): void {
  const events = [
    { method: 'notifications/subscriptions/acknowledged', params: { notifications: { taskIds: [OWN_ID, 'another'] } } },
    { method: 'notifications/tasks', params: { taskId: OWN_ID, status: 'working' } },
    { method: 'notifications/tasks', params: { taskId: 'another', status: 'working' } },
  ];
  const text = events.map((each) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...each })}\n\n`).join('');
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
}

const DISCOVERED = {
  supportedVersions: [REVISION],
  capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
  serverInfo: { name: 'test', version: '1' },
};
const INITIALIZED = { protocolVersion: '2025-11-25', serverInfo: { name: 'test', version: '1' } };

async function send(proxy: AttackedProxy, method: string, params: JsonObject, name?: string): Promise<string> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  };
  const named: Record<string, string> = name === undefined ? {} : { 'mcp-name': name };
  const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': method, ...named };
  return (await post(proxy.url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers)).text;
}

async function ask(proxy: AttackedProxy, method: string, params: JsonObject, name?: string): Promise<Asked> {
  return JSON.parse(await send(proxy, method, params, name));
}

function listen(notifications: JsonObject): Promise<string> {
  return send(permissive, 'subscriptions/listen', { notifications });
}

interface Asked {
  readonly result?: { readonly taskId?: string; readonly status?: string };
  readonly error?: { readonly code: number; readonly message: string };
}

async function makeTask(proxy: AttackedProxy, tool = 'chart', args: JsonObject = {}): Promise<string> {
  const { result } = await ask(proxy, 'tools/call', { name: tool, arguments: args }, tool);
  return result?.taskId ?? '';
}

describe('a client of 2026-07-28', () => {
  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'uses the id of the proxy in %s, and the server gets its own id',
    async (method) => {
      const taskId = await makeTask(permissive);
      expect(taskId).toMatch(/^[\w-]{100,}$/);
      const asked = await ask(permissive, method, { taskId }, taskId);
      expect(asked.result).toMatchObject({ taskId, status: 'completed' });
      const { message, request } = server.received.at(-1) ?? {};
      expect([message?.params, request?.headers['mcp-name']]).toMatchObject([{ taskId: OWN_ID }, OWN_ID]);
    },
  );

  test('can use its task at another replica', async () => {
    const taskId = await makeTask(permissive);
    const other = await replica(['permit(principal, action, resource);']);
    expect((await ask(other, 'tasks/get', { taskId }, taskId)).result).toMatchObject({ taskId });
  });

  test('can use its task if policies read the arguments of its call', async () => {
    const strict = await replica(['permit(principal, action, resource) when { context.arg_city == "Bern" };']);
    const taskId = await makeTask(strict, 'chart', { city: 'Bern' });
    expect((await ask(strict, 'tasks/get', { taskId }, taskId)).result).toMatchObject({ taskId });
  });

  test('cannot use its task if changed policies forbid its tool, or cannot decide without arguments', async () => {
    const taskId = await makeTask(permissive);
    const all = 'permit(principal, action, resource);';
    const forbidding = await replica([all, 'forbid(principal, action, resource == Tool::"chart");']);
    const reading = await replica(['permit(principal, action, resource) when { context.arg_city == "Bern" };']);
    const unrelated = await replica([all, 'forbid(principal, action, resource == Tool::"table");']);
    const codes = [forbidding, reading, unrelated].map(
      async (proxy) => (await ask(proxy, 'tasks/get', { taskId }, taskId)).error?.code,
    );
    expect(await Promise.all(codes)).toEqual([403, 403, undefined]);
  });

  test('cannot use its task after its tool was hidden', async () => {
    const taskId = await makeTask(permissive);
    const filtered = await replica(undefined, { tools_filter: ['table'] });
    expect((await ask(filtered, 'tasks/get', { taskId }, taskId)).error?.code).toBe(-32602);
  });

  test.each([
    ['the id of the server', () => OWN_ID],
    ['an id that was changed', async () => `B${(await makeTask(permissive)).slice(1)}`],
  ])('cannot use a task by %s', async (_what, made) => {
    const before = server.received.length;
    const taskId = await made();
    const text = await ask(permissive, 'tasks/get', { taskId }, taskId).then(JSON.stringify);
    expect(text).toContain('Task not found');
    await permissive.log.until(/task-unknown/);
    expect(server.received.slice(before).filter(({ message }) => message?.method === 'tasks/get')).toEqual([]);
  });

  test('gets notifications only about its subscribed tasks, with the ids of the proxy', async () => {
    const taskId = await makeTask(permissive);
    const answered = await listen({ taskIds: [taskId] });
    expect(server.received.at(-1)?.message?.params).toMatchObject({ notifications: { taskIds: [OWN_ID] } });
    const messages = [...answered.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).params);
    expect(messages).toMatchObject([{ notifications: { taskIds: [taskId] } }, { taskId, status: 'working' }]);
    expect(await listen({ toolsListChanged: true })).not.toContain('working');
  });

  test.each([
    ['the id of the server', { taskIds: [OWN_ID] }],
    ['no list', { taskIds: OWN_ID }],
    ['a key in another letter case', { TaskIds: [OWN_ID] }],
  ])('cannot subscribe to tasks by %s', async (_what, notifications) => {
    const before = server.received.length;
    expect(await listen(notifications)).toContain('"error"');
    const passed = server.received.slice(before).filter(({ message }) => message?.method === 'subscriptions/listen');
    expect(passed).toEqual([]);
  });

  test('cannot subscribe to resources by a key in another case', async () => {
    expect(await listen({ ResourceSubscriptions: ['file:///etc'] })).toContain('"error"');
  });

  test('gets an id of the proxy in a task result of more than 1 MiB', async () => {
    const taskId = await makeTask(permissive);
    const asked = await ask(permissive, 'tasks/get', { taskId, large: true }, taskId);
    expect(asked.result?.taskId).toBe(taskId);
  });

  test('cannot use its task if the name of its tool now belongs to another tool', async () => {
    const first = await replica(undefined, { tools_override: { draw: { name: 'chart' } } });
    const taskId = await makeTask(first);
    const second = await replica(undefined, { tools_override: { paint: { name: 'chart' } } });
    expect((await ask(first, 'tasks/get', { taskId }, taskId)).result).toMatchObject({ taskId });
    expect((await ask(second, 'tasks/get', { taskId }, taskId)).error?.message).toContain('Task not found');
  });

  test('gets the id of the server if neither policies nor filters apply', async () => {
    expect(await makeTask(await replica(undefined))).toBe(OWN_ID);
  });
});

describe('a client with a session', () => {
  const request = async (method: string, params: object) =>
    JSON.parse((await post(permissive.url, { jsonrpc: '2.0', id: 1, method, params })).text);

  test('can use its task, and get its result', async () => {
    const { result } = await request('tools/call', { name: 'chart', task: {} });
    const { taskId } = result.task;
    expect(taskId).toMatch(/^[\w-]{100,}$/);
    expect((await request('tasks/get', { taskId })).result.taskId).toBe(taskId);
    const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId } } };
    expect((await request('tasks/result', { taskId })).result).toMatchObject(related);
  });

  test('gets notifications only about its own task, with the id of the proxy', async () => {
    const { taskId } = (await request('tools/call', { name: 'chart', task: {} })).result.task;
    const asked = { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId, speaks: true } };
    const { text } = await post(permissive.url, asked);
    const messages = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId } };
    expect(messages).toMatchObject([
      { method: 'notifications/tasks/status', params: { taskId, status: 'input_required' } },
      { method: 'elicitation/create', params: { _meta } },
      { result: { _meta } },
    ]);
    expect(text).not.toContain(OWN_ID);
  });

  test('cannot list all tasks', async () => {
    const { result } = await request('initialize', INITIALIZE.params);
    expect(result.capabilities.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    expect((await request('tasks/list', {})).error.code).toBe(-32601);
    await permissive.log.until(/task-list-refused/);
  });
});
