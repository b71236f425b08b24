// Tests messages between a client and backends in addition to requests and results: progress, questions, cancellation,
// log messages, updates, silent backends and lost sessions. In one file, because the tests share two backends with
// sessions.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { VmcpConfig } from '#contracts/vmcp-config.ts';
import { PATIENCE_MS } from '../../harness/patience.ts';
import { type Refused, startMember, type TestMember, tool } from './member.ts';
import { configOf, connect, operational, runVirtual, type TestedVirtualServer } from './world.ts';

let one: TestMember;
let two: TestMember;
const running: TestedVirtualServer[] = [];

beforeAll(async () => {
  one = await startMember({
    name: 'one',
    tools: [tool('hang'), tool('echo')],
    resources: [{ uri: 'one://r', name: 'r' }],
  });
  two = await startMember({ name: 'two', tools: [tool('hang'), tool('echo')] });
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
});

async function run(settings: Partial<VmcpConfig> = {}) {
  const server = await runVirtual(configOf({ one, two }, settings));
  running.push(server);
  return server;
}

function hang(id: number | string, name: string, more: object = {}) {
  return { id, method: 'tools/call', params: { name, arguments: {}, ...more } };
}

describe('a call', () => {
  it('forwards the address of the client, but not the prefix of its URL', async () => {
    const client = await connect(await run(), {}, { 'x-forwarded-prefix': '/mcp/docs/library' });
    await client.ask('tools/call', { name: 'one_echo', arguments: {} });
    const headers = one.calls('tools/call').at(-1)?.headers ?? {};
    const reported = Object.keys(headers).filter((name) => /forwarded/.test(name));
    expect(reported).toEqual(['x-forwarded-for']);
  });

  it('passes _meta, progress and structured content unchanged', async () => {
    const client = await connect(await run());
    const hanging = one.hanging();
    const stream = await client.open(hang('c', 'one_hang', { _meta: { progressToken: 'p', 'x.y/z': 1 } }));
    const { message, event, respond } = await hanging;
    expect(message).toMatchObject({ id: 'c', params: { name: 'hang', _meta: { progressToken: 'p', 'x.y/z': 1 } } });
    event({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } });
    expect(await stream.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1 },
    });
    const result = { content: [], structuredContent: { deep: [1] }, _meta: { a: 1 } };
    respond(result);
    expect(await stream.next()).toEqual({ jsonrpc: '2.0', id: 'c', result });
  });

  it('gives two servers that ask with the same id their own answers', async () => {
    const client = await connect(await run(), { elicitation: {} });
    const calls = await Promise.all(
      (
        [
          ['one_hang', one],
          ['two_hang', two],
        ] as const
      ).map(async ([name, member], index) => {
        const hanging = member.hanging();
        const stream = await client.open(hang(index + 10, name));
        const { event, respond } = await hanging;
        event({ id: 1, method: 'elicitation/create', params: { message: name, _meta: { progressToken: 1 } } });
        return { question: await stream.next(), stream, respond };
      }),
    );
    const [first, second] = calls.map(({ question }) => question);
    expect(first.id).not.toEqual(second.id);
    expect(first.params._meta.progressToken).not.toEqual(second.params._meta.progressToken);
    for (const { question } of calls.toReversed()) {
      const { status } = await client.post({
        id: question.id,
        result: { action: 'accept', content: { to: question.params.message } },
      });
      expect(status).toBe(202);
    }
    for (const [member, to] of [
      [one, 'one_hang'],
      [two, 'two_hang'],
    ] as const) {
      expect(member.asked.map(({ message }) => message).findLast((each) => each?.result !== undefined)).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: { action: 'accept', content: { to } },
      });
    }
    for (const [index, { stream, respond }] of calls.entries()) {
      respond({ content: [] });
      expect(await stream.next()).toMatchObject({ id: index + 10, result: { content: [] } });
    }
    expect((await client.post({ id: 'invented', result: {} })).status).toBe(400);
  });

  it('is cancelled only at the server that handles it', async () => {
    const client = await connect(await run());
    await client.ask('tools/call', { name: 'two_echo' });
    const hanging = one.hanging();
    const stream = await client.open(hang(7, 'one_hang'));
    await hanging;
    await client.post({ method: 'notifications/cancelled', params: { requestId: 7 } });
    await expect.poll(() => one.calls('notifications/cancelled').length).toBe(1);
    expect(two.calls('notifications/cancelled')).toEqual([]);
    stream.close();
  });

  it('fails if its server is silent for longer than the timeout, which restarts at each message', async () => {
    const timeouts = { default: '30s', perWorkload: { one: '300ms' } };
    const client = await connect(await run({ operational: { ...operational({}).operational, timeouts } }), {
      sampling: {},
    });
    const hanging = one.hanging();
    const stream = await client.open(hang(8, 'one_hang'));
    const { event, closed } = await hanging;
    event({ id: 5, method: 'sampling/createMessage', params: {} });
    const question = await stream.next();
    // A person may take longer to answer than the timeout of a backend.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await client.post({ id: question.id, result: {} });
    await closed;
    await expect.poll(() => one.calls('notifications/cancelled').length).toBeGreaterThan(0);
    expect(await stream.next()).toMatchObject({ id: 8, error: { message: 'the backend one did not answer in time' } });
  });
});

it('a log level reaches every server, including servers that are called later', async () => {
  const client = await connect(await run());
  await client.ask('tools/call', { name: 'one_echo' });
  expect(await client.ask('logging/setLevel', { level: 'debug' })).toEqual({});
  await client.ask('tools/call', { name: 'two_echo' });
  for (const member of [one, two]) {
    expect(member.asked.filter(({ message }) => message?.method === 'logging/setLevel').at(-1)?.message.params).toEqual(
      { level: 'debug' },
    );
  }
});

it('updates of a resource reach the subscribed client', async () => {
  const client = await connect(await run());
  await client.ask('resources/subscribe', { uri: 'one://r' });
  const stream = await client.open();
  const session = one.calls('resources/subscribe').at(-1)?.headers['mcp-session-id'];
  const listens = () =>
    one.asked.some(({ method, headers }) => method === 'GET' && headers['mcp-session-id'] === session);
  await expect.poll(listens).toBe(true);
  const updated = { method: 'notifications/resources/updated', params: { uri: 'one://r' } };
  one.say(updated);
  expect(await stream.next()).toMatchObject(updated);
  stream.close();
});

it('too many notifications without a response of the server are refused; accepted notifications do not count', async () => {
  const method = 'notifications/roots/list_changed';
  const client = await connect(await run());
  await client.ask('tools/call', { name: 'one_echo', arguments: {} });
  const send = async () => (await client.post({ method, params: { text: 'x'.repeat(3_000_000) } })).status;
  one.failCalls('silent', method);
  expect([await send(), await send()]).toEqual([202, 503]);
  one.failCalls(undefined);
  const other = await connect(await run());
  await other.ask('tools/call', { name: 'one_echo', arguments: {} });
  const sent = () => other.post({ method, params: { text: 'x'.repeat(3_000_000) } });
  for (const _ of [1, 2]) await expect.poll(async () => (await sent()).status).toBe(202);
});

it('subscriptions of a session have a limit of characters, and ended subscriptions do not count', async () => {
  const server = await runVirtual(configOf({ one }));
  running.push(server);
  const client = await connect(server);
  const long = (name: string) => `one://${name}/${'x'.repeat(30_000)}`;
  const errorOf = async (name: string) => (await client.ask('resources/subscribe', { uri: long(name) })).error?.code;
  expect([await errorOf('a'), await errorOf('b')]).toEqual([undefined, undefined]);
  const before = one.calls('resources/subscribe').length;
  expect(await errorOf('c')).toBe(-32603);
  expect(one.calls('resources/subscribe')).toHaveLength(before);
  expect(await errorOf('a')).toBeUndefined();
  await client.ask('resources/unsubscribe', { uri: long('b') });
  expect(await errorOf('c')).toBeUndefined();
});

it.each([502, 503, 429])(
  'a closed stream of a server is opened again after a GET was refused with %i',
  async (status) => {
    const client = await connect(await run());
    await client.ask('resources/subscribe', { uri: 'one://r' });
    const stream = await client.open();
    const session = one.calls('resources/subscribe').at(-1)?.headers['mcp-session-id'];
    const listens = () =>
      one.asked.filter(({ method, headers }) => method === 'GET' && headers['mcp-session-id'] === session).length;
    await expect.poll(listens).toBe(1);
    one.cut(status);
    await expect.poll(listens, { timeout: PATIENCE_MS }).toBe(3);
    const updated = { method: 'notifications/resources/updated', params: { uri: 'one://r' } };
    one.say(updated);
    expect(await stream.next()).toMatchObject(updated);
    stream.close();
  },
);

/** Responses of servers to an unknown session, such as a session of a replaced pod. */
const FORGOTTEN: readonly { readonly said: string; readonly refusal: Refused }[] = [
  { said: '404', refusal: [404, ''] },
  {
    said: '400, as the example of the official SDK',
    refusal: [
      400,
      '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}',
    ],
  },
  {
    said: '400 and the code of an unknown session',
    refusal: [400, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"gone"},"id":null}'],
  },
  { said: '400 in plain text', refusal: [400, 'Invalid or missing session ID'] },
];

it.each(FORGOTTEN)(
  'a session that a server has forgotten ($said) is opened again, and the call is sent once',
  async ({ refusal }) => {
    const client = await connect(await run());
    await client.ask('tools/call', { name: 'one_echo', arguments: { n: 1 } });
    await client.ask('resources/subscribe', { uri: 'one://r' });
    const before = one.calls('tools/call').length;
    one.forget(refusal);
    const { content } = await client.ask('tools/call', { name: 'one_echo', arguments: { n: 2 } });
    expect(JSON.parse(content[0].text).args).toEqual({ n: 2 });
    const made = one.calls('tools/call').slice(before);
    expect(made.map(({ message }) => message.params.arguments.n)).toEqual([2, 2]);
    expect(new Set(made.map(({ headers }) => headers['mcp-session-id'])).size).toBe(2);
    const restored = one.asked.filter(({ message }) => message?.method === 'resources/subscribe').at(-1);
    expect(restored?.headers['mcp-session-id']).toBe(made.at(-1)?.headers['mcp-session-id']);
  },
);

it('requests of the virtual server in a session have different ids, which clients cannot guess', async () => {
  const client = await connect(await run());
  await client.ask('tools/call', { name: 'one_echo' });
  await client.ask('resources/subscribe', { uri: 'one://r' });
  const before = one.asked.length;
  await client.ask('logging/setLevel', { level: 'debug' });
  one.forget();
  await client.ask('tools/call', { name: 'one_echo' });
  const own = one.asked
    .slice(before)
    .map(({ message }) => message)
    .filter((message) => ['logging/setLevel', 'resources/subscribe'].includes(message?.method));
  expect(own.map(({ method }) => method).sort()).toEqual([
    'logging/setLevel',
    'logging/setLevel',
    'resources/subscribe',
  ]);
  expect(new Set(own.map(({ id }) => id)).size).toBe(3);
  for (const { id } of own) expect(id).toMatch(/^skep-[A-Za-z0-9_-]{22}$/);
});

it('the end of a session ends it at every server, and it is unknown afterwards', async () => {
  const client = await connect(await run());
  await client.ask('tools/call', { name: 'one_echo' });
  await client.ask('tools/call', { name: 'two_echo' });
  expect((await client.end()).status).toBe(204);
  for (const member of [one, two])
    await expect.poll(() => member.asked.some(({ method }) => method === 'DELETE')).toBe(true);
  expect((await client.post({ id: 1, method: 'tools/list' })).status).toBe(404);
});
