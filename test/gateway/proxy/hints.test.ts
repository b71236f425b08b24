// Tests policies that read tool hints: a call is decided by the hints in the server's list, or refused if the list
// cannot be read.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repoPath } from './paths.ts';
import {
  type AttackedProxy,
  answerPlainly,
  answerResult,
  call,
  INITIALIZE,
  openRaw,
  post,
  proxyBefore,
  type Received,
  rawPost,
  startServer,
  stopAll,
  type TestServer,
} from './rig.ts';

/** Policies that permit a call if the hint is missing. A proxy that does not know the hints would permit it wrongly. */
const POLICIES = [
  'permit(principal, action, resource);',
  'forbid(principal, action == Action::"call_tool", resource) when { resource has destructiveHint && resource.destructiveHint };',
];
const TOOLS = [
  { name: 'read', annotations: { destructiveHint: false } },
  { name: 'remove', annotations: { destructiveHint: true } },
];

let directory: string;
let policyFile: string;
let server: TestServer;
let answer: (received: Received) => void = answerPlainly;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skep-hints-'));
  policyFile = join(directory, 'authz.json');
  await writeFile(policyFile, JSON.stringify({ version: '1.0', type: 'cedarv1', cedar: { policies: POLICIES } }));
  server = await startServer((received) => answer(received));
});
afterAll(async () => {
  await stopAll();
  await rm(directory, { recursive: true });
});

/** Makes the server respond to lists with `list`, and to other requests with `answerPlainly`. */
function answerLists(list: (received: Received) => void): void {
  answer = (received) => (received.message?.method === 'tools/list' ? list(received) : answerPlainly(received));
}

const fresh = (): Promise<AttackedProxy> => proxyBefore(server.port, { authz_config_path: policyFile });
const asked = (method: string) => server.received.filter(({ message }) => message?.method === method);

describe('a list that cannot be read to its end', () => {
  const json = ({ response }: Received, status: number, text: string) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  const rows: readonly (readonly [string, (received: Received) => void])[] = [
    [
      'an error',
      (received) => {
        const error = { code: -32603, message: 'broken' };
        json(received, 200, JSON.stringify({ jsonrpc: '2.0', id: received.message?.id, error }));
      },
    ],
    ['status 500', (received) => json(received, 500, '{}')],
    ['status 503', ({ response }) => response.writeHead(503).end()],
    ['a page of HTML', ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['a connection that ends', ({ response }) => response.destroy()],
    ['an answer that is cut off', (received) => json(received, 200, '{"jsonrpc":"2.0","id":')],
    ['nothing', ({ response }) => response.writeHead(202).end()],
    [
      'a stream without a response',
      ({ response }) => {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"jsonrpc":"2.0","method":"a"}\n\n');
      },
    ],
    [
      'the response to another request',
      (received) => json(received, 200, '{"jsonrpc":"2.0","id":"skep-tools","result":{"tools":[]}}'),
    ],
    ['a result without tools', ({ response, message }) => answerResult(response, message ?? {}, { things: [] })],
    [
      'tools that are no list',
      ({ response, message }) => answerResult(response, message ?? {}, { tools: { remove: {} } }),
    ],
    [
      'a cursor that is not a text',
      ({ response, message }) => answerResult(response, message ?? {}, { tools: TOOLS, nextCursor: 7 }),
    ],
    [
      'pages without an end',
      ({ response, message }) => answerResult(response, message ?? {}, { tools: [], nextCursor: 'again' }),
    ],
    [
      'a second page that fails',
      (received) => {
        const { response, message } = received;
        if (message?.params?.cursor !== undefined) json(received, 500, '{}');
        else answerResult(response, message ?? {}, { tools: [], nextCursor: 'two' });
      },
    ],
  ];

  it.each(rows)('refuses the call with tool-hints-unreadable: %s', async (_what, list) => {
    answerLists(list);
    const proxy = await fresh();
    const before = asked('tools/call').length;
    const refused = await post(proxy.url, call('remove'));
    expect([refused.status, refused.code, JSON.parse(refused.text).id]).toEqual([503, -32603, 1]);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(asked('tools/call').length).toBe(before);
    expect(proxy.log.text()).toContain('tool-hints-unreadable');
    // The proxy reads the list again for the next call.
    answerLists(({ response, message }) => answerResult(response, message ?? {}, { tools: TOOLS }));
    expect((await post(proxy.url, call('remove'))).status).toBe(403);
    expect((await post(proxy.url, call('read'))).status).toBe(200);
    await proxy.stop();
  });

  it('reports an unknown session, so that the client begins a new session', async () => {
    answerLists((received) => json(received, 404, '{}'));
    const proxy = await fresh();
    const begun = await post(proxy.url, INITIALIZE);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    expect((await post(proxy.url, call('remove'), session)).status).toBe(404);
  });
});

it('a call of an unlisted tool is refused with policy-hints-unknown', async () => {
  let tools: readonly object[] = TOOLS;
  answerLists(({ response, message }) => answerResult(response, message ?? {}, { tools }));
  const proxy = await fresh();
  const before = asked('tools/call').length;
  expect((await post(proxy.url, call('unlisted'))).status).toBe(403);
  expect(asked('tools/call').length).toBe(before);
  await proxy.log.until(/policy-hints-unknown/);
  // The server adds a tool without a notification.
  tools = [...TOOLS, { name: 'unlisted' }];
  expect((await post(proxy.url, call('unlisted'))).status).toBe(200);
});

it('the ids of hidden requests cannot be guessed', async () => {
  answerLists(({ response, message }) =>
    answerResult(
      response,
      message ?? {},
      message?.params?.cursor === undefined ? { tools: TOOLS, nextCursor: 'two' } : { tools: [] },
    ),
  );
  const before = asked('tools/list').length;
  expect((await post((await fresh()).url, call('remove'))).status).toBe(403);
  const ids = asked('tools/list')
    .slice(before)
    .map(({ message }) => String(message?.id));
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^skep-[A-Za-z0-9_-]{22}$/);
});

it('the hidden request ends when its client disconnects', async () => {
  const { promise, resolve } = Promise.withResolvers<Received>();
  answerLists(resolve);
  const proxy = await fresh();
  const client = openRaw(proxy.port);
  client.send(rawPost(JSON.stringify(call('remove'))));
  const list = await promise;
  client.socket.destroy();
  await list.closed;
  await proxy.log.until(/request-cut-off/);
});

it.each(['streamable-http', 'sse'] as const)(
  'a request in flight with an id of an earlier hidden request does not let a call pass (%s)',
  async (proxy_mode) => {
    const process_ = { command: [process.execPath, repoPath('test/gateway/proxy/hinting-stdio.mjs')], env: {} };
    const proxy = await proxyBefore(1, {
      transport: 'stdio',
      proxy_mode,
      process: process_,
      authz_config_path: policyFile,
    });
    const held = { jsonrpc: '2.0', id: 'skep-tools', method: 'resources/read', params: { uri: 'file:///hangs' } };
    if (proxy_mode === 'streamable-http') {
      const begun = await post(proxy.url, INITIALIZE);
      const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
      await post(proxy.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
      const hanging = openRaw(proxy.port);
      hanging.send(rawPost(JSON.stringify(held), [`Mcp-Session-Id: ${session['mcp-session-id']}`]));
      await proxy.log.until(/holds a request/);
      expect((await post(proxy.url, call('remove'), session)).status).toBe(403);
      hanging.socket.destroy();
      return;
    }
    const stream = openRaw(proxy.port);
    stream.send('GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n');
    const url = `${proxy.origin}${/data: (\S+)/.exec(await stream.until(/data: \S+/))?.[1] ?? ''}`;
    await post(url, INITIALIZE);
    await stream.until(/"hinting"/);
    await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' });
    await post(url, held);
    await proxy.log.until(/holds a request/);
    expect((await post(url, call('remove'))).status).toBe(403);
    expect((await post(url, call('read', {}, 'wanted'))).status).toBe(202);
    await stream.until(/called read/);
    expect(stream.text()).not.toContain('called remove');
    stream.socket.destroy();
  },
);
