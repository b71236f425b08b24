import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ask } from './http-load.ts';

/** What the server was asked while 50 requests were sent over 4 connections. */
async function check(answer: RequestListener, expected = 200): Promise<string[]> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['x-name']}`);
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  try {
    await ask({ port, path: '/a', headers: { 'x-name': 'b' }, status: expected }, 50, 4);
    return seen;
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

test.each<{ reason: string; answer: RequestListener; status?: number }>([
  { reason: 'by length', answer: (_, response) => response.end('x'.repeat(300_000)) },
  { reason: 'by length, without content', answer: (_, response) => response.end() },
  {
    reason: 'by chunks',
    answer: (_, response) => {
      response.write('x'.repeat(100_000));
      response.end('0\r\n\r\n but that was content');
    },
  },
  { reason: 'without a body', answer: (_, response) => response.writeHead(304).end(), status: 304 },
])('every request is answered: $reason', async ({ answer, status }) => {
  expect(await check(answer, status)).toEqual(Array.from({ length: 50 }, () => 'GET /a b'));
});

test('another status is an error', async () => {
  await expect(check((_, response) => response.writeHead(503).end())).rejects.toThrow('HTTP/1.1 503');
});

test('so is a connection that ends before its answer', async () => {
  await expect(check((request) => request.socket.destroy())).rejects.toThrow();
});
