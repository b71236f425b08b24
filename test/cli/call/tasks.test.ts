// `skep call` and a tool that answers with a task: the program waits for its result, shows how it is, and ends it on Ctrl-C.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  answerPlainly,
  answerResult,
  type Received,
  startServer,
  stopAll,
  type TestServer,
} from '../../gateway/proxy/rig.ts';
import { temporaryFolder } from '../../harness/git-server.ts';
import { skep, startSkep } from '../../harness/skep.ts';

const REVISION = '2026-07-28';
const folder = temporaryFolder();
let server: TestServer;

beforeAll(async () => {
  server = await startServer(answerTasks);
});
afterAll(async () => {
  await stopAll();
  folder.remove();
});

const LIST = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const QUESTION = {
  mode: 'form',
  message: 'Which color?',
  requestedSchema: { type: 'object', properties: { color: { type: 'string' } } },
};
const NEEDS = { inputRequests: { name: { method: 'elicitation/create', params: QUESTION } } };
const DONE = { content: [{ type: 'text', text: 'painted' }], structuredContent: { size: 1 } };

/** What `tasks/get` answers, one after the other; the last again and again. */
const COURSES: Readonly<Record<string, readonly object[]>> = {
  paint: [
    { status: 'working', statusMessage: 'half' },
    { status: 'completed', result: DONE },
  ],
  ask: [
    { status: 'input_required', ...NEEDS },
    { status: 'input_required', ...NEEDS },
    { status: 'completed', result: DONE },
  ],
  break: [{ status: 'failed', error: { code: -32603, message: 'no canvas' } }],
  stop: [{ status: 'cancelled' }],
  odd: [{ status: 'completed', result: {} }],
  strange: [{ status: 'done' }],
  sample: [{ status: 'input_required', inputRequests: { a: { method: 'sampling/createMessage', params: {} } } }],
  late: [{ status: 'completed', result: DONE }],
  endless: [{ status: 'working' }],
};
const asked = new Map<string, number>();

function answerTasks(received: Received): void {
  const { response, message } = received;
  const params: { name?: string; taskId?: string } = message?.params ?? {};
  const outputSchema = { type: 'object', required: ['size'], properties: { size: { type: 'number' } } };
  const _meta = { ui: { resourceUri: 'ui://paint.html' } };
  const tools = Object.keys(COURSES).map((name) => ({ name, inputSchema: { type: 'object' }, outputSchema, _meta }));
  const handle = {
    taskId: params.name,
    status: params.name === 'late' ? 'completed' : 'working',
    createdAt: new Date(0).toISOString(),
    pollIntervalMs: 100,
  };
  const results: Readonly<Record<string, object>> = {
    'server/discover': {
      supportedVersions: [REVISION],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      ...LIST,
    },
    'tools/list': { tools, ...LIST },
    'tools/call': { ...handle, resultType: 'task' },
    'tasks/update': { resultType: 'complete' },
    'tasks/cancel': { resultType: 'complete' },
    'tasks/get': { ...taskOf(message?.method, params.taskId ?? ''), resultType: 'complete', pollIntervalMs: 100 },
  };
  const result = results[message?.method ?? ''];
  if (message === undefined || result === undefined) answerPlainly(received);
  else answerResult(response, message, result);
}

function taskOf(method: string | undefined, taskId: string): object {
  const course = COURSES[taskId];
  if (method !== 'tasks/get' || course === undefined) return {};
  const count = asked.get(taskId) ?? 0;
  asked.set(taskId, count + 1);
  return { taskId, ...(course[count] ?? course.at(-1)) };
}

function urlOf(): string {
  return `http://127.0.0.1:${server.port}/mcp`;
}

function call(tool: string) {
  return skep(['call', urlOf(), tool], { cwd: folder.path });
}

function paramsOf(method: string): object | undefined {
  return server.received.findLast(({ message }) => message?.method === method)?.message?.params;
}

test('waits for the result of a task, shows how it is, and names the user interface', async () => {
  const { code, stdout, stderr } = await call('paint');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('painted') });
  expect(stderr).toContain('working: half\n');
  expect(stderr).toContain('paint has a user interface for clients that support it: ui://paint.html\n');
});

test('asks for the result of a task that is over when it begins', async () => {
  expect(await call('late')).toMatchObject({ code: 0, stdout: expect.stringContaining('painted') });
});

test('answers each question of a task once', async () => {
  const { code, stderr } = await call('ask');
  expect(code).toBe(0);
  expect(stderr.match(/declined, because there is no terminal: Which color\?/g)).toHaveLength(1);
  expect(paramsOf('tasks/update')).toMatchObject({ taskId: 'ask', inputResponses: { name: { action: 'decline' } } });
});

test.each([
  ['break', 'the task failed: no canvas'],
  ['stop', 'the server cancelled the task'],
  ['odd', 'the server completed the task without the result of a tool'],
  ['strange', 'the server gave the task an unknown status: done'],
  ['sample', 'the task requests something other than an answer of its user (elicitation)'],
])('says why there is no result: %s', async (tool, why) => {
  const { code, stderr } = await call(tool);
  expect(code).toBe(1);
  expect(stderr).toContain(why);
});

test('ends the task if the person gives up', async () => {
  const program = startSkep(['call', urlOf(), 'endless'], { cwd: folder.path });
  await expect.poll(() => asked.get('endless') ?? 0, { timeout: 60_000 }).toBeGreaterThan(0);
  program.kill('SIGINT');
  expect((await program.finished).code).toBe(1);
  await expect.poll(() => paramsOf('tasks/cancel'), { timeout: 60_000 }).toMatchObject({ taskId: 'endless' });
});
