// Tests calls of tools: an answer counts once, for its own question and call; limits, cancelling, and the audit lines.

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '#hosts/config/read-config.ts';
import { Failure } from '#std/failure.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { createCallTool, LIMITS, type ToolRequest } from '../../../src/cli/mcp/call-tool.ts';
import { isConfirmed } from '../../../src/cli/mcp/confirmation.ts';
import { type ConfirmationQuestion, data, inputSchema, type McpTool } from '../../../src/cli/mcp/tool.ts';
import { presenceOf } from '../../../src/cli/mcp/tools/explain.ts';
import { chooseTools } from '../../../src/cli/mcp/tools.ts';

const CONFIG = readConfig({
  text: 'name: test\nsources: [{name: fleet, repository: https://git.example.com/fleet.git}]',
  file: 'skep.yaml',
  environment: {},
});

interface World {
  message: string;
  result: JsonObject;
  readonly acted: JsonObject[];
}

/** Does nothing but note that it was called. */
function actingTool(world: World): McpTool {
  return {
    ...{ name: 'act', title: 'Act', description: 'Acts.', outputSchema: { type: 'object' } },
    inputSchema: inputSchema({ hash: { type: 'string', maxLength: 10 } }, ['hash']),
    acts: { destructive: true },
    async call({ args, confirmed, signal, commandOf }) {
      const command = commandOf('act');
      const question: ConfirmationQuestion = {
        type: 'question',
        message: world.message,
        label: 'Act',
        command,
        facts: args,
      };
      if (!isConfirmed(question, { confirmed, signal })) return question;
      world.acted.push(args);
      return data(world.result);
    },
  };
}

function waitingTool(work: (signal: AbortSignal) => Promise<void>): McpTool {
  return {
    ...{ name: 'wait', title: 'Wait', description: 'Waits.', outputSchema: { type: 'object' } },
    inputSchema: inputSchema({}),
    async call({ signal }) {
      await work(signal);
      return data({ version: 1 });
    },
  };
}

function caller(limits = LIMITS) {
  const lines: JsonObject[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const callTool = createCallTool({
    readConfig: async () => CONFIG,
    commandOf: (words) => `skep ${words}`,
    logger,
    limits,
  });
  const signal = new AbortController().signal;
  async function call(tool: McpTool, request: Partial<ToolRequest> = {}): Promise<JsonObject> {
    const result = await callTool({
      ...{ tool, args: {}, signal, client: 'test/1', canAsk: true, progress: () => undefined },
      ...request,
    });
    if ('question' in result) return { state: result.state };
    const parsed: unknown = JSON.parse(result.content[0]?.text ?? '');
    expect(result.isError === true).toBe(isObject(parsed) && parsed.error !== undefined);
    return parsed as JsonObject;
  }
  return { call, lines };
}

async function asked(world: World, args: JsonObject = { hash: 'a' }) {
  const { call, lines } = caller();
  const tool = actingTool(world);
  const { state } = await call(tool, { args });
  const answerWith = (answer: Partial<ToolRequest>) => call(tool, { args, ...answer });
  return { state: String(state), answerWith, lines };
}

function emptyWorld(): World {
  return { message: 'Delete one?', result: { version: 1 }, acted: [] };
}

test('an action happens after its question is confirmed, and each step leaves an audit line', async () => {
  const world = emptyWorld();
  const { state, answerWith, lines } = await asked(world);
  expect(world.acted).toEqual([]);
  expect(await answerWith({ answer: { state, accepted: true } })).toEqual({ version: 1 });
  expect(world.acted).toEqual([{ hash: 'a' }]);
  expect(lines).toMatchObject(
    ['asked', 'confirmed', 'done'].map((event) => ({ action: 'act', event, client: 'test/1', hash: 'a' })),
  );
});

test.each([
  {
    reason: 'a state that was invented',
    state: () => 'invented',
    args: { hash: 'a' },
    code: 'mcp-confirmation-changed',
  },
  {
    reason: 'the state of another call',
    state: (own: string) => own,
    args: { hash: 'b' },
    code: 'mcp-confirmation-changed',
  },
  {
    reason: 'no acceptance',
    state: (own: string) => own,
    args: { hash: 'a' },
    accepted: false,
    code: 'mcp-confirmation-declined',
  },
])('an answer with $reason does nothing', async ({ state: chosen, args, accepted = true, code }) => {
  const world = emptyWorld();
  const { state, answerWith } = await asked(world);
  expect(await answerWith({ args, answer: { state: chosen(state), accepted } })).toMatchObject({ error: { code } });
  expect(world.acted).toEqual([]);
});

test('an answer counts once', async () => {
  const world = emptyWorld();
  const { state, answerWith } = await asked(world);
  await answerWith({ answer: { state, accepted: true } });
  const again = await answerWith({ answer: { state, accepted: true } });
  expect(again).toMatchObject({ error: { code: 'mcp-confirmation-changed' } });
  expect(world.acted).toHaveLength(1);
});

test('an answer to a question that would be another one now does nothing', async () => {
  const world = emptyWorld();
  const { state, answerWith } = await asked(world);
  world.message = 'Delete two?';
  const answer = await answerWith({ answer: { state, accepted: true } });
  expect(answer).toMatchObject({ error: { code: 'mcp-confirmation-changed', command: 'skep act' } });
  expect(world.acted).toEqual([]);
});

test('a call that is cancelled ends at once, and counts until its work has ended', async () => {
  const { call } = caller();
  const work = Promise.withResolvers<void>();
  const begun: (() => void)[] = [];
  const tool = waitingTool(() => {
    for (const each of begun.splice(0)) each();
    return work.promise;
  });
  for (let count = 0; count < 4; count += 1) {
    const cancelling = new AbortController();
    const waiting = new Promise<void>((resolve) => begun.push(resolve));
    const called = call(tool, { signal: cancelling.signal });
    await waiting;
    cancelling.abort();
    expect(await called).toMatchObject({ error: { code: 'mcp-cancelled' } });
  }
  expect(await call(tool)).toMatchObject({ error: { code: 'mcp-busy', retryable: true } });
  work.resolve();
  await work.promise;
  expect(await call(waitingTool(async () => undefined))).toEqual({ version: 1 });
});

test('a call that is cancelled before its work begins does no work', async () => {
  const { call } = caller();
  const begun: string[] = [];
  const tool = waitingTool(async () => void begun.push('begun'));
  expect(await call(tool, { signal: AbortSignal.abort() })).toMatchObject({ error: { code: 'mcp-cancelled' } });
  expect(begun).toEqual([]);
});

test('an action whose result is too large was done: the error and the audit say so', async () => {
  const world = emptyWorld();
  world.result = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key-${index}`, index]));
  const { state, answerWith, lines } = await asked(world);
  expect(await answerWith({ answer: { state, accepted: true } })).toMatchObject({
    error: { code: 'mcp-result-too-large', message: expect.stringMatching(/^the action was done; /) },
  });
  expect(world.acted).toHaveLength(1);
  expect(lines.map(({ event }) => event)).toEqual(['asked', 'confirmed', 'done']);
});

test('a Failure is an error with code and advice; a bug shows nothing of itself', async () => {
  const { call, lines } = caller();
  const unreachable = waitingTool(() => Promise.reject(new Failure('cluster-unreachable', 'no answer\u001b[2J')));
  expect(await call(unreachable)).toMatchObject({
    error: { code: 'cluster-unreachable', message: 'no answer\\u001b[2J', advice: expect.stringMatching(/.{20}/) },
  });
  const broken = waitingTool(() => Promise.reject(new TypeError('password is undefined')));
  const shown = await call(broken);
  expect(shown).toMatchObject({ error: { code: 'mcp-internal' } });
  expect(JSON.stringify(shown)).not.toContain('password');
  expect(JSON.stringify(lines)).toContain('password is undefined');
});

test('a call that takes too long is given up', async () => {
  const { call } = caller({ readMs: 20, actMs: 20 });
  const given = Promise.withResolvers<void>();
  const tool = waitingTool((signal) => {
    signal.addEventListener('abort', () => given.resolve());
    return new Promise(() => undefined);
  });
  expect(await call(tool)).toMatchObject({ error: { code: 'mcp-timeout', retryable: true } });
  await given.promise;
});

test.each([
  { reason: 'an object that was listed is there', object: {}, known: true, presence: { live: true } },
  { reason: 'an object that a LIST lacks is not there', object: undefined, known: true, presence: { live: false } },
  { reason: 'it is unknown if the LIST failed', object: undefined, known: false, presence: {} },
])('explain: $reason', ({ object, known, presence }) => {
  const id = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'docs', name: 'wiki' };
  expect(presenceOf({ find: () => object as never, known: () => known }, id)).toEqual(presence);
});

test('only allowed actions are tools, each once', () => {
  const namesOf = (allowed: Parameters<typeof chooseTools>[1]) =>
    chooseTools(CONFIG, allowed).flatMap(({ name, acts }) => (acts === undefined ? [] : [name]));
  expect(namesOf([])).toEqual([]);
  expect(namesOf(['rollback'])).toEqual(['rollback']);
  expect(namesOf(['rollback', 'approve', 'rollback'])).toEqual(['approve', 'rollback']);
});
