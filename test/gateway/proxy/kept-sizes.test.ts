// Tests size limits of data that stays in memory: parts of `initialize` and client information during a session, and
// subscriptions while clients listen.

import { afterAll, expect, it } from 'vitest';
import { HEADERS, INITIALIZE, post, proxyBefore, startServer, stopAll } from './rig.ts';

afterAll(stopAll);

it('an initialize beyond 16 KiB is refused and reaches no server; a smaller one begins a session', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const sized = (length: number) => ({
    ...INITIALIZE,
    params: { ...INITIALIZE.params, capabilities: { experimental: { x: { y: 'z'.repeat(length) } } } },
  });
  const refused = await post(proxy.url, sized(17_000));
  expect([refused.status, refused.code, server.received.length]).toEqual([413, -32600, 0]);
  const begun = await post(proxy.url, sized(15_000));
  expect([begun.status, begun.headers.get('mcp-session-id') !== null]).toEqual([200, true]);
});

const VERSION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';

interface Facts {
  readonly clientCapabilities?: object;
  readonly clientInfo?: object;
}

/** Sends a request of 2026-07-28. Returns its status and the number of messages that the server received. */
async function sendStateless(method: string, params: object, facts: Facts = {}) {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const client = { clientCapabilities: {}, clientInfo: { name: 'c', version: '1' }, ...facts };
  const named = Object.entries(client).map(([name, value]) => [PREFIX + name, value]);
  const meta = { [`${PREFIX}protocolVersion`]: VERSION, ...Object.fromEntries(named) };
  const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': method, 'mcp-name': 'echo' };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  const response = await fetch(proxy.url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(message),
  });
  // The response to an accepted subscription does not end by itself.
  await response.body?.cancel();
  return { status: response.status, reached: server.received.length };
}

const REFUSED = { status: 413, reached: 0 };

it.each([
  ['clientCapabilities', { clientCapabilities: { experimental: { x: { y: 'z'.repeat(17_000) } } } }],
  ['clientInfo', { clientInfo: { name: 'z'.repeat(17_000), version: '1' } }],
])(
  'a request whose %s exceeds 16 KiB is refused, because sessions at servers are stored by this value',
  async (_, facts) => {
    expect(await sendStateless('tools/call', { name: 'echo', arguments: {} }, facts)).toEqual(REFUSED);
  },
);

it('arguments do not count for the limit of client information', async () => {
  const sent = await sendStateless('tools/call', { name: 'echo', arguments: { text: 'z'.repeat(100_000) } });
  expect(sent).not.toMatchObject({ reached: 0 });
  expect(sent.status).not.toBe(413);
});

it('a subscription beyond 64 KiB is refused, because it is stored while the client listens', async () => {
  const resourceSubscriptions = ['file:///a', 'file:///b'];
  const notifications = { resourceSubscriptions, 'com.example/more': 'z'.repeat(66_000) };
  expect(await sendStateless('subscriptions/listen', { notifications })).toEqual(REFUSED);
});
