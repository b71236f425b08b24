// Tests DNS rebinding: a proxy on loopback refuses requests of a web page whose host name resolves to this machine.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AttackedProxy, proxyBefore, sendRaw, startServer, statuses, stopAll } from './rig.ts';

let proxy: AttackedProxy;

beforeAll(async () => {
  const server = await startServer();
  proxy = await proxyBefore(server.port);
});
afterAll(stopAll);

it.each(['/health', '/readyz', '/mcp', '/oauth/token'])('GET %s with a foreign host name is refused', async (path) => {
  const text = await sendRaw(proxy.port, `GET ${path} HTTP/1.1\r\nHost: evil.example:${proxy.port}\r\n\r\n`);
  expect(statuses(text)).toEqual([403]);
});

it.each(['127.0.0.1', 'localhost', '[::1]'])('the health endpoint responds to the host %s', async (host) => {
  const text = await sendRaw(proxy.port, `GET /health HTTP/1.1\r\nHost: ${host}:${proxy.port}\r\n\r\n`);
  expect(statuses(text)).toEqual([200]);
});

it.each([
  ['127.0.0.1', '/health', 200],
  ['localhost', '/health', 200],
  ['mcp.example.com', '/health', 200],
  ['evil.example', '/health', 403],
  ['127.0.0.1', '/mcp', 403],
])('if other hosts are allowed, the host %s gets for %s the status %i', async (host, path, status) => {
  const server = await startServer();
  const own = await proxyBefore(server.port, { allowed_hosts: ['mcp.example.com'] });
  const text = await sendRaw(own.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expect(statuses(text)).toEqual([status]);
});
