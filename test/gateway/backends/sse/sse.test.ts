// Tests HTTP+SSE servers as backends: a public server, and broken or hostile servers. In one file, because all tests
// begin with the same server.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, expect, it } from 'vitest';
import type { Backend, Exchange } from '#gateway/backends/backend.ts';
import { createSseBackend } from '#gateway/backends/sse/backend.ts';
import type { SseOptions } from '#gateway/backends/sse/ports.ts';
import { startEverything } from '../../../harness/mcp-servers.ts';
import { connectSession } from '../bridge/raw-server.ts';
import { listenBefore, testClock, testUpstream } from '../shim.ts';
import { type RawSse, type RawSseOptions, startRawSse } from './raw-sse.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Returns the URL of an HTTP front for the server. */
async function reach(
  url: string,
  options: Partial<SseOptions> = {},
  wrap = (backend: Backend) => backend,
  log = (_text: string): unknown => undefined,
): Promise<string> {
  const upstream = testUpstream();
  const backend = createSseBackend(
    { url, firstByteMs: 5000, idleMs: 5000, messageBytes: 65_536, ...options },
    {
      upstream,
      clock: testClock,
      replica: 'test',
      observer: { dropped: () => undefined, log: (_level, text) => void log(text) },
    },
  );
  const front = await listenBefore(wrap(backend));
  closing.push(
    () => upstream.close(),
    () => backend.close(0),
    () => front.close(),
  );
  return front.url;
}

async function startServer(options: RawSseOptions = {}): Promise<RawSse> {
  const server = await startRawSse(options);
  closing.push(() => server.close());
  return server;
}

it('serves the official client with a server of the official SDK', async () => {
  const server = await startEverything({ transport: 'sse', eras: 'session' });
  closing.push(() => server.stop());
  const url = await reach(server.backend.url.href);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('echo');
  const progress: number[] = [];
  const echoed = await client.callTool({ name: 'echo', arguments: { message: 'größer' } });
  expect(echoed.content).toEqual([{ type: 'text', text: 'Echo: größer' }]);
  await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.1, steps: 2 } }, undefined, {
    onprogress: (each) => progress.push(each.progress),
  });
  expect(progress).toEqual([1, 2]);
  await client.close();
});

it('opens a separate event stream for each session, and closes it with the session', async () => {
  const server = await startServer();
  const url = await reach(server.url);
  const first = await connectSession(url);
  const second = await connectSession(url);
  await Promise.all([first.call('ping'), second.call('ping')]);
  expect(server.streams).toHaveLength(2);
  expect(server.posted.map(({ http }) => http.url).sort()).toEqual([0, 0, 0, 1, 1, 1].map((n) => `/messages?n=${n}`));
  const ended = new Promise((resolve) => server.streams[0]?.response.once('close', resolve));
  await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': first.id } });
  await ended;
});

it('sends no message before the end of the handshake', async () => {
  const order: unknown[] = [];
  let finish = () => undefined as unknown;
  const server = await startServer({
    received({ response, message }, stream) {
      order.push(message.method);
      if (message.method === 'notifications/initialized') finish = () => response.writeHead(202).end();
      else if (message.method === 'ping') stream?.event({ jsonrpc: '2.0', id: message.id, result: {} });
      if (message.method === 'ping') response.writeHead(202).end();
      return message.method !== 'initialize';
    },
  });
  const url = await reach(server.url);
  const client = await connectSession(url);
  const pinged = client.call('ping');
  while (order.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(['initialize', 'notifications/initialized']);
  finish();
  expect((await pinged).messages[0]).toMatchObject({ id: 1, result: {} });
  expect(order).toEqual(['initialize', 'notifications/initialized', 'ping']);
});

it('gets credentials for the stream and for each message, with their URLs', async () => {
  const server = await startServer({ path: '/team/sse' });
  const asked: string[] = [];
  const withRights = (backend: Backend): Backend => ({
    ...backend,
    open: (exchange: Exchange, answer) =>
      backend.open(
        {
          ...exchange,
          authorize(request) {
            asked.push(`${request.method} ${new URL(request.url).pathname}`);
            return Promise.resolve({ ok: true, headers: { ...request.headers, authorization: 'Bearer t' } });
          },
        },
        answer,
      ),
  });
  const url = await reach(server.url, { host: 'localhost' }, withRights);
  const client = await connectSession(url);
  await client.call('ping');
  expect(asked).toEqual(['GET /team/sse', 'POST /messages', 'POST /messages', 'POST /messages']);
  const headers = [...server.streams, ...server.posted].map(({ http }) => http.headers);
  for (const each of headers) expect(each).toMatchObject({ authorization: 'Bearer t', host: 'localhost' });
  expect(headers[0]).toMatchObject({ accept: 'text/event-stream' });
  expect(headers[1]).not.toHaveProperty('mcp-session-id');
});

it.each([
  { reason: 'names an endpoint of another origin', opened: 'http://127.0.0.1:1/messages' },
  { reason: 'names an endpoint that is not a URL', opened: 'http://' },
])('sends nothing to a server that $reason', async ({ opened }) => {
  const server = await startServer({ opened: (stream) => stream.event(opened, 'endpoint') });
  const url = await reach(server.url);
  const { initialized } = await connectSession(url);
  expect(initialized.status).toBe(502);
  expect(initialized.text).not.toContain('127.0.0.1');
  expect(server.posted).toEqual([]);
});

it.each<{ reason: string; options: RawSseOptions }>([
  {
    reason: 'answers GET with 404',
    options: { opened: ({ response }) => void response.writeHead(404).end() },
  },
  {
    reason: 'answers GET with HTML',
    options: { opened: ({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>') },
  },
  {
    reason: 'ends its stream at once',
    options: { opened: ({ response }) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end() },
  },
  { reason: 'closes the connection', options: { opened: ({ response }) => void response.destroy() } },
])('reports a server that $reason', async ({ options }) => {
  const server = await startServer(options);
  const { initialized } = await connectSession(await reach(server.url));
  expect([initialized.status, initialized.messages[0]?.id]).toEqual([502, 0]);
});

it('reports an unreachable server and a silent server', async () => {
  const server = await startServer();
  await server.close();
  expect((await connectSession(await reach(server.url))).initialized.status).toBe(502);
  const silent = await startServer({ opened: () => undefined });
  const { initialized } = await connectSession(await reach(silent.url, { firstByteMs: 50 }));
  expect(initialized.status).toBe(502);
});

it.each([
  { reason: 'ends its stream', end: (server: RawSse) => server.streams[0]?.response.end() },
  { reason: 'breaks its stream inside of an event', end: (server: RawSse) => server.streams[0]?.response.destroy() },
  {
    reason: 'sends an event that is too large',
    end: (server: RawSse) =>
      server.streams[0]?.event({ jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(70_000) } }),
  },
])('ends the session of a server that $reason, with an error for the call in flight', async ({ end }) => {
  const waiting = Promise.withResolvers<void>();
  const server = await startServer({
    received({ message, response }) {
      if (message.method !== 'tools/call') return false;
      response.writeHead(202).end();
      waiting.resolve();
      return true;
    },
  });
  const url = await reach(server.url);
  const client = await connectSession(url);
  const called = client.call('tools/call', { name: 'a' });
  await waiting.promise;
  server.streams[0]?.response.write('event: message\ndata: {"jso');
  server.streams[0]?.response.write('nrpc":"2.0","method":"notifications/x"}\n\n');
  end(server);
  const { status, messages } = await called;
  expect(status === 502 || messages.at(-1)?.error !== undefined).toBe(true);
  expect((await client.call('ping')).status).toBe(404);
});

it('responds to a call with an error if the server refuses the message', async () => {
  let status = 500;
  const server = await startServer({
    received({ message, response }, stream) {
      if (message.method === 'initialize' || message.id === undefined) return false;
      if (message.method === 'ping') stream?.event({ jsonrpc: '2.0', id: message.id, result: {} });
      response.writeHead(message.method === 'ping' ? 202 : status).end();
      return true;
    },
  });
  const client = await connectSession(await reach(server.url));
  const refused = await client.call('tools/call', { name: 'a' });
  expect(refused.messages.at(-1)?.error).toEqual({
    code: -32603,
    message: 'the MCP server refused the message with status 500',
  });
  expect((await client.call('ping')).messages.at(-1)?.result).toEqual({});
  status = 404;
  expect((await client.call('tools/call', { name: 'a' })).messages.at(-1)?.error).toBeDefined();
  expect((await client.call('ping')).status).toBe(404);
});

it('uses only the first endpoint, and ignores events that are not messages', async () => {
  const server = await startServer({
    received({ message, response }, stream) {
      if (message.method !== 'ping') return false;
      response.writeHead(200).end('{"not":"the answer"}');
      stream?.event('http://127.0.0.1:1/elsewhere', 'endpoint');
      stream?.response.write(': comment\n\nevent: other\ndata: {"jsonrpc":"2.0","id":1,"result":{"wrong":true}}\n\n');
      stream?.event({ jsonrpc: '2.0', id: message.id, result: { right: true } });
      return true;
    },
  });
  const client = await connectSession(await reach(server.url));
  for (const id of [1, 2]) expect((await client.call('ping', {}, id)).messages.at(-1)?.result).toEqual({ right: true });
});

it('replaces bytes of an event that are not UTF-8, and the log reports this once', async () => {
  const server = await startServer({
    received({ message, response }, stream) {
      if (message.method !== 'tools/call') return false;
      response.writeHead(202).end();
      const data = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { text: 'caf\u00e9' } });
      stream?.response.write(Buffer.from(`event: message\ndata: ${data}\n\n`, 'latin1'));
      return true;
    },
  });
  const logged: string[] = [];
  const client = await connectSession(await reach(server.url, {}, undefined, (text) => logged.push(text)));
  for (const id of [1, 2]) {
    expect((await client.call('tools/call', { name: 'a' }, id)).messages.at(-1)?.result).toEqual({ text: 'caf\ufffd' });
  }
  expect(logged.filter((text) => text.includes('not UTF-8'))).toHaveLength(1);
});

it('reports whether the server is reachable', async () => {
  const server = await startServer();
  const upstream = testUpstream();
  closing.push(() => upstream.close());
  const parts = {
    upstream,
    clock: testClock,
    replica: 'r',
    observer: { dropped: () => undefined, log: () => undefined },
  };
  const backend = createSseBackend({ url: server.url, firstByteMs: 1000, idleMs: 0, messageBytes: 1000 }, parts);
  closing.push(() => backend.close(0));
  expect(await backend.probe()).toMatchObject({ available: true });
  await server.close();
  expect(await backend.probe()).toMatchObject({ available: false });
});
