// Tests that a proxy forwards only to the MCP endpoint of its server, and that a client can end only its own session.

import { afterAll, expect, test } from 'vitest';
import { call, HEADERS, INITIALIZE, post, proxyBefore, sendRaw, startServer, statuses, stopAll } from './rig.ts';

afterAll(stopAll);

const EVENTS = { accept: 'text/event-stream' };

test.each([
  { reason: 'a page outside of the endpoint', method: 'GET', path: '/internal/users.json' },
  { reason: 'a resource outside of the endpoint', method: 'DELETE', path: '/items/5' },
  { reason: 'a call to another path', method: 'POST', path: '/admin' },
  { reason: 'dot segments', method: 'GET', path: '/mcp/../internal/x' },
  { reason: 'encoded dot segments', method: 'DELETE', path: '/mcp/%2e%2e/x' },
  { reason: 'the endpoint with two slashes', method: 'GET', path: '/mcp//' },
])('$reason leads to 404: $method $path', async ({ method, path }) => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const host = `host: 127.0.0.1:${proxy.port}`;
  const head = `${method} ${path} HTTP/1.1\r\n${host}\r\naccept: text/event-stream\r\nconnection: close\r\n`;
  const body = JSON.stringify(call('a'));
  const more = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  expect(statuses(await sendRaw(proxy.port, head + (method === 'POST' ? more : '\r\n')))).toEqual([404]);
  expect(server.received).toEqual([]);
});

test('a GET that does not explicitly accept event streams gets 406', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  for (const accept of ['*/*', 'text/*', 'text/html']) {
    expect((await fetch(proxy.url, { headers: { accept } })).status, accept).toBe(406);
  }
  expect(server.received).toEqual([]);
});

test('a DELETE ends only a session of its caller', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const nameless = await fetch(proxy.url, { method: 'DELETE' });
  expect([nameless.status, await nameless.json()]).toMatchObject([
    400,
    { error: { message: 'A DELETE ends a session: name it in Mcp-Session-Id' } },
  ]);
  await proxy.log.until(/session-required/);
  const unknown = { 'mcp-session-id': 'invented' };
  expect((await fetch(proxy.url, { method: 'DELETE', headers: unknown })).status).toBe(404);
  expect(server.received).toEqual([]);
  const begun = await fetch(proxy.url, { method: 'POST', headers: HEADERS, body: JSON.stringify(INITIALIZE) });
  const session = begun.headers.get('mcp-session-id') ?? '';
  await begun.text();
  await fetch(proxy.url, { method: 'DELETE', headers: { ...EVENTS, 'mcp-session-id': session } });
  expect(server.received.map(({ request }) => `${request.method} ${request.url}`)).toEqual([
    'POST /mcp',
    'DELETE /mcp',
  ]);
});

test('the endpoint also accepts a trailing slash, and the server gets its own path', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  for (const target of ['/mcp/', '/mcp/?tenant=a']) {
    expect((await post(`${proxy.origin}${target}`, call('a'))).status).toBe(200);
  }
  expect(server.received.map(({ request }) => request.url)).toEqual(['/mcp', '/mcp?tenant=a']);
});

test('clients use /mcp even if the server has another path', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port, { mcp_path: '/api/mcp' });
  expect((await post(`${proxy.url}?tenant=a`, call('a'))).status).toBe(200);
  expect((await fetch(`${proxy.origin}/api/mcp`, { headers: EVENTS })).status).toBe(404);
  expect(server.received.map(({ request }) => request.url)).toEqual(['/api/mcp?tenant=a']);
});
