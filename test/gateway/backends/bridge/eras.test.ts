// Tests that the bridge detects the eras of a server, converts only the other era, and detects changes.

import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { bridgeBefore, closeLater } from './bridged.ts';
import {
  callStateless,
  connectSession,
  errorOf,
  type RawRequest,
  resultOf,
  sendJson,
  startRaw,
  startSessions,
  startStateless,
} from './raw-server.ts';

type Era = 'session' | 'stateless';

/** Starts a server whose supported eras a test can change. */
function startChanging(eras: { spoken: readonly Era[] }) {
  return startRaw((request) => {
    const { http, response, message } = request;
    const era = http.headers['mcp-protocol-version'] === '2026-07-28' ? 'stateless' : 'session';
    if (http.method !== 'POST') return void response.writeHead(http.method === 'DELETE' ? 200 : 405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    if (!eras.spoken.includes(era)) return sendJson(response, errorOf(request, -32000, `no ${era}`), 400);
    const resultType = era === 'stateless' ? 'complete' : undefined;
    if (message.method === 'initialize') {
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'raw', version: '1' } };
      return sendJson(response, resultOf(request, result), 200, { 'mcp-session-id': 'own' });
    }
    if (message.method === 'server/discover' && era === 'stateless') {
      return sendJson(response, resultOf(request, { resultType, supportedVersions: ['2026-07-28'], capabilities: {} }));
    }
    sendJson(response, resultOf(request, { resultType, content: [], era }));
  });
}

function methodsOf(requests: readonly RawRequest[]): readonly (string | undefined)[] {
  return requests.map(({ http, message }) => message.method ?? http.method);
}

it('passes both eras of a server that supports both, and detects the eras once', async () => {
  const server = closeLater(await startChanging({ spoken: ['session', 'stateless'] }));
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  expect(client.id).toBe('own');
  expect((await client.call('tools/call', { name: 'a' })).messages[0]?.result).toEqual({ content: [], era: 'session' });
  for (const id of [1, 2]) {
    const { messages } = await callStateless(url, 'tools/call', { name: 'a' }, { id });
    expect(messages[0]).toEqual({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', content: [], era: 'stateless' },
    });
  }
  const calls = ['tools/call', 'server/discover', 'tools/call', 'tools/call'];
  expect(methodsOf(server.requests)).toEqual(['initialize', 'notifications/initialized', ...calls]);
});

it('detects the eras with one request for many parallel requests', async () => {
  const server = closeLater(await startChanging({ spoken: ['stateless'] }));
  const { url } = await bridgeBefore(server.url);
  await Promise.all(Array.from({ length: 8 }, (_, id) => callStateless(url, 'tools/call', { name: 'a' }, { id })));
  expect(methodsOf(server.requests).filter((method) => method === 'server/discover')).toHaveLength(1);
});

it('notices that a server without sessions is replaced by a server with sessions', async () => {
  const eras: { spoken: Era[] } = { spoken: ['stateless'] };
  const server = closeLater(await startChanging(eras));
  const { url } = await bridgeBefore(server.url);
  const call = async () => (await callStateless(url, 'tools/call', { name: 'a' })).messages[0];
  expect(await call()).toMatchObject({ result: { era: 'stateless' } });
  eras.spoken = ['session'];
  expect(await call()).toMatchObject({ error: { message: 'no stateless' } });
  expect(await call()).toMatchObject({ result: { resultType: 'complete', era: 'session' } });
});

it('notices that a server with sessions is replaced by a server without sessions', async () => {
  const eras: { spoken: Era[] } = { spoken: ['session'] };
  const server = closeLater(await startChanging(eras));
  const { url } = await bridgeBefore(server.url);
  const before = await connectSession(url);
  eras.spoken = ['stateless'];
  // The client learns by the 404 that its session has ended, and begins a new session.
  expect((await before.call('ping')).status).toBe(404);
  await connectSession(url);
  const after = await connectSession(url);
  expect(after.id).toMatch(/^bridge\./);
  expect((await after.call('tools/call', { name: 'a' })).messages[0]?.result).toEqual({
    content: [],
    era: 'stateless',
  });
});

it('checks after some time whether a server now supports the other era', async () => {
  const eras: { spoken: Era[] } = { spoken: ['session'] };
  const server = closeLater(await startChanging(eras));
  const { url } = await bridgeBefore(server.url, { eraMs: 0 });
  const call = async () => (await callStateless(url, 'tools/call', { name: 'a' })).messages[0]?.result?.era;
  expect(await call()).toBe('session');
  eras.spoken = ['session', 'stateless'];
  expect(await call()).toBe('stateless');
});

it.each([
  { reason: 'login', status: 401 },
  { reason: 'too many requests', status: 429 },
  { reason: 'a fault', status: 500 },
])(
  'passes the status of a server that responds with $reason, and does not conclude an era from it',
  async ({ status }) => {
    let refuses = true;
    const server = closeLater(
      await startStateless((request) => {
        if (refuses) request.response.writeHead(status, { 'www-authenticate': 'Bearer' }).end();
        return refuses;
      }),
    );
    const { url } = await bridgeBefore(server.url);
    const stateless = await callStateless(url, 'tools/call', { name: 'a' });
    expect([stateless.status, stateless.headers.get('www-authenticate')]).toEqual([status, 'Bearer']);
    const refused = await connectSession(url);
    expect([refused.initialized.status, refused.initialized.headers.get('www-authenticate')]).toEqual([
      status,
      'Bearer',
    ]);
    refuses = false;
    expect((await connectSession(url)).id).toMatch(/^bridge\./);
  },
);

it('reports an unreachable server to clients of both eras, and serves them once the server is reachable', async () => {
  const unused = createServer();
  await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
  const { port } = Object(unused.address());
  await new Promise((resolve) => unused.close(resolve));
  const { url } = await bridgeBefore(`http://127.0.0.1:${port}/mcp`);
  expect((await callStateless(url, 'tools/call', { name: 'a' })).status).toBe(502);
  expect((await connectSession(url)).initialized.status).toBe(502);
});

it('detects a server with sessions that responds to requests of 2026-07-28 without supporting them', async () => {
  // An old server without sessions, which responds to every request that it understands.
  const server = closeLater(
    await startRaw((request) => {
      const { http, response, message } = request;
      if (http.method !== 'POST') return void response.writeHead(405).end();
      if (message.id === undefined) return void response.writeHead(202).end();
      const result = { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
      if (message.method === 'initialize') sendJson(response, resultOf(request, result));
      else if (message.method === 'tools/call') sendJson(response, resultOf(request, { content: [] }));
      else sendJson(response, errorOf(request, -32601, 'Method not found'));
    }),
  );
  const { url } = await bridgeBefore(server.url);
  const { messages } = await callStateless(url, 'tools/call', { name: 'a' });
  expect(messages[0]?.result).toMatchObject({ resultType: 'complete' });
  const call = await server.waitFor(({ message }) => message.method === 'tools/call');
  expect(call.http.headers).not.toHaveProperty('mcp-session-id');
});

it.each([
  { way: 'status 500', answer: ({ response }: RawRequest) => void response.writeHead(500).end() },
  {
    way: 'status 501 and an error',
    answer: (request: RawRequest) => sendJson(request.response, errorOf(request, -32603, 'Unhandled method'), 501),
  },
  { way: 'the end of the connection', answer: ({ response }: RawRequest) => void response.destroy() },
])('detects a server with sessions that responds to server/discover with $way', async ({ answer }) => {
  let sessions = 0;
  const server = closeLater(
    await startRaw((request) => {
      const { http, response, message } = request;
      if (http.headers['mcp-protocol-version'] === '2026-07-28') return answer(request);
      if (http.method !== 'POST') return void response.writeHead(http.method === 'DELETE' ? 200 : 405).end();
      if (message.id === undefined) return void response.writeHead(202).end();
      if (message.method !== 'initialize') return sendJson(response, resultOf(request, { tools: [] }));
      sessions += 1;
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'raw', version: '1' } };
      sendJson(response, resultOf(request, result), 200, { 'mcp-session-id': `s${sessions}` });
    }),
  );
  const { url, backend } = await bridgeBefore(server.url);
  for (const id of [1, 2]) {
    const { messages } = await callStateless(url, 'tools/list', {}, { id });
    expect(messages[0]?.result).toMatchObject({ resultType: 'complete' });
  }
  // The bridge ends the session that it used to detect the era. Both calls share a new session.
  await server.waitFor(({ http }) => http.method === 'DELETE' && http.headers['mcp-session-id'] === 's1');
  expect(methodsOf(server.requests).filter((method) => method === 'server/discover')).toHaveLength(1);
  const lists = server.requests.filter(({ message }) => message.method === 'tools/list');
  expect(lists.map(({ http }) => http.headers['mcp-session-id'])).toEqual(['s2', 's2']);
  expect(await backend.probe()).toMatchObject({ available: true });
});

it('reports a server as unreachable if it responds to every request with 503', async () => {
  const server = closeLater(await startRaw(({ response }) => void response.writeHead(503).end()));
  const { url, backend } = await bridgeBefore(server.url);
  expect(await backend.probe()).toMatchObject({ available: false, error: 'status 503' });
  expect((await callStateless(url, 'tools/list')).status).toBe(503);
});

it('ends its own session after initialize has shown that the server has sessions', async () => {
  const server = closeLater(await startSessions(() => false));
  const { url } = await bridgeBefore(server.url);
  const client = await connectSession(url);
  expect(client.id).toBe('s1');
  expect(methodsOf(server.requests)).toEqual(['initialize', 'notifications/initialized']);
});
