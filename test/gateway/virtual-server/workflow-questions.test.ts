// Tests workflows that ask the client's user, in both eras of the protocol: questions, the effect of each answer, and
// answers after a reconnect.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Members, readCalled, serveWorkflows, startMembers, workflow } from './workflow-world.ts';
import { type Client, connect, postTo, type TestedVirtualServer } from './world.ts';

let members: Members;
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  members = await startMembers();
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => members.close());

const SCHEMA = {
  type: 'object',
  properties: { sure: { type: 'boolean' }, why: { type: 'string', default: 'none' } },
  required: ['sure'],
};

function asking(more: object = {}) {
  return workflow([
    { id: 'ask', type: 'elicitation', message: 'Send {{.params.q}}?', schema: SCHEMA, ...more },
    {
      id: 'send',
      tool: 'wiki.typed',
      dependsOn: ['ask'],
      arguments: { on: '{{.steps.ask.output.action}}', n: '{{json .steps.ask.output.content}}' },
      defaultResults: { sent: false },
    },
  ]);
}

async function serve(more: object = {}): Promise<TestedVirtualServer> {
  const server = await serveWorkflows(members, [asking(more)]);
  running.push(server);
  return server;
}

const CALL = { id: 5, method: 'tools/call', params: { name: 'flow', arguments: { q: 'it' } } };

/** Calls the workflow and answers its question. */
async function converse(client: Client, answer: object) {
  const stream = await client.open(CALL);
  const question = await stream.next();
  await client.post({ id: question.id, result: answer });
  const { result } = await stream.next();
  stream.close();
  return { question, ...readCalled(result) };
}

async function answered(more: object, answer: object) {
  return converse(await connect(await serve(more), { elicitation: {} }), answer);
}

describe('a client with a session', () => {
  it('gets the message and the schema, and its answer is completed with the defaults of the schema', async () => {
    const { question, output } = await answered({}, { action: 'accept', content: { sure: true } });
    expect(question).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'Send it?', requestedSchema: SCHEMA },
    });
    expect(output.args).toEqual({ on: 'accept', n: '{"sure":true,"why":"none"}' });
  });

  it('whose answer does not match the schema ends the workflow, or is asked again', async () => {
    const wrong = { action: 'accept', content: { sure: 'perhaps' } };
    expect((await answered({}, wrong)).text).toBe(
      'Workflow execution failed: step ask: the answer does not fit the schema: /sure must be boolean',
    );
    const client = await connect(await serve({ onError: { action: 'retry', retryCount: 1, retryDelay: '1ms' } }), {
      elicitation: {},
    });
    const stream = await client.open(CALL);
    await client.post({ id: (await stream.next()).id, result: wrong });
    await client.post({ id: (await stream.next()).id, result: { action: 'accept', content: { sure: false } } });
    expect(readCalled((await stream.next()).result).output.args.on).toBe('accept');
    stream.close();
  });

  it.each([
    ['decline', 'onDecline', 'the user declined'],
    ['cancel', 'onCancel', 'the user did not answer'],
  ])('that answers %s ends the workflow, unless %s is configured', async (action, setting, words) => {
    expect((await answered({}, { action })).text).toBe(`Workflow execution failed: step ask: ${words}`);
    const aborted = {
      [setting]: { action: 'abort' },
      onError: { action: 'continue' },
      defaultResults: { action: 'x', content: {} },
    };
    expect((await answered(aborted, { action })).text).toContain(words);
    const goesOn = { [setting]: { action: 'continue' }, defaultResults: { content: { sure: false } } };
    expect((await answered(goesOn, { action })).output.args).toEqual({ on: action, n: '{"sure":false}' });
    const skips = await answered({ [setting]: { action: 'skip_remaining' } }, { action });
    expect(skips).toMatchObject({ isError: false, output: { sent: false } });
  });

  it('continues after a failure with the defaultResults if onError is `continue`', async () => {
    const { output } = await answered(
      { onError: { action: 'continue' }, defaultResults: { action: 'default', content: null } },
      { action: 'decline' },
    );
    expect(output.args.on).toBe('default');
  });

  it('that does not answer in time counts as cancelled, and gets a cancellation', async () => {
    const client = await connect(await serve({ timeout: '100ms' }), { elicitation: {} });
    const stream = await client.open(CALL);
    const question = await stream.next();
    expect(await stream.next()).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: question.id },
    });
    expect(readCalled((await stream.next()).result).text).toContain('step ask: the user did not answer');
    stream.close();
  });

  it('that cannot ask its user gets a clear error', async () => {
    const client = await connect(await serve());
    expect(readCalled(await client.ask('tools/call', CALL.params)).text).toContain(
      'the client cannot ask its user (elicitation)',
    );
  });

  it('may reconnect, because the question and the result are kept', async () => {
    const client = await connect(await serve(), { elicitation: {} });
    const first = await client.open(CALL);
    const question = await first.next();
    first.close();
    const again = await client.open(undefined, { 'last-event-id': first.lastId() ?? '' });
    await client.post({ id: question.id, result: { action: 'accept', content: { sure: true } } });
    expect(readCalled((await again.next()).result).output.args.on).toBe('accept');
    again.close();
  });

  it('gets only questions of calls of its own session', async () => {
    const server = await serve();
    const [one, other] = [await connect(server, { elicitation: {} }), await connect(server, { elicitation: {} })];
    const stream = await one.open(CALL);
    const { id } = await stream.next();
    await other.post({ id, result: { action: 'decline' } });
    await one.post({ id, result: { action: 'accept', content: { sure: true } } });
    expect(readCalled((await stream.next()).result).output.args.on).toBe('accept');
    stream.close();
  });
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};
const HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'flow' };

async function postStateless(
  { url }: TestedVirtualServer,
  more: object = {},
  capabilities: object = { elicitation: { form: {} } },
) {
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const params = { name: 'flow', arguments: { q: 'it' }, _meta, ...more };
  const { json, text } = await postTo(url, { id: 1, method: 'tools/call', params }, HEADERS);
  const data = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .at(-1);
  return json ?? JSON.parse(data?.slice(6) ?? '{}');
}

describe('a client without sessions', () => {
  it('gets the question as a result, and repeats the call with the answer', async () => {
    const server = await serve();
    const { result } = await postStateless(server);
    expect(result.resultType).toBe('input_required');
    const [[key, request]] = Object.entries<{ method: string; params: object }>(result.inputRequests) as [
      [string, { method: string; params: object }],
    ];
    expect(request).toMatchObject({
      method: 'elicitation/create',
      params: { message: 'Send it?', requestedSchema: SCHEMA },
    });
    const inputResponses = { [key]: { action: 'accept', content: { sure: true } } };
    const last = await postStateless(server, { inputResponses, requestState: result.requestState });
    expect(readCalled(last.result).output.args).toEqual({ on: 'accept', n: '{"sure":true,"why":"none"}' });
  });

  it('several clients get separate questions', async () => {
    const server = await serve();
    const asked = await Promise.all(Array.from({ length: 10 }, () => postStateless(server)));
    const results = await Promise.all(
      asked.map(({ result }, index) => {
        const [key = ''] = Object.keys(result.inputRequests);
        const content = { sure: true, why: `number ${index}` };
        return postStateless(server, {
          inputResponses: { [key]: { action: 'accept', content } },
          requestState: result.requestState,
        });
      }),
    );
    expect(results.map(({ result }) => JSON.parse(readCalled(result).output.args.n).why)).toEqual(
      asked.map((_, index) => `number ${index}`),
    );
  });
});
