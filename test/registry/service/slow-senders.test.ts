// Clients that send a request so slowly that it never ends, and go on when they have read that it is too late.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from './service.ts';

const SENDERS = 30;

let service: Service;
let port: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await openService('auth: {mode: anonymous}', `limits: {connections: ${SENDERS}}`);
  service.app.server.headersTimeout = 200;
  service.app.server.requestTimeout = 400;
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await service.close();
});

/** One character at a time, as long as the socket is there; it never ends its side. */
async function drip(head: string): Promise<{ readonly answer: () => string; readonly closed: Promise<unknown> }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.write(head);
  const timer = setInterval(() => socket.write('a'), 20);
  socket.once('close', () => clearInterval(timer));
  return { answer: () => answer, closed };
}

test.each([
  ['a header', 'GET /health HTTP/1.1\r\nhost: a\r\nx-slow: '],
  ['a body', 'POST /health HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n'],
])('those who drip %s are told, and then lose their connection', async (_what, head) => {
  const senders = await Promise.all(Array.from({ length: SENDERS }, () => drip(head)));
  await Promise.all(senders.map(({ closed }) => closed));
  expect(senders[0]?.answer()).toMatch(/^HTTP\/1\.1 40[58] /);
  const { status } = await fetch(`http://127.0.0.1:${port}/health`);
  expect(status).toBe(200);
});
