// Tests clients that never complete their requests: their connections are closed in time, and other clients do not
// wait.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Listener, listenHttp } from '#gateway/proxy/listener.ts';
import { openRaw, statuses } from './rig.ts';

let listener: Listener;
let port: number;
let begun = 0;

beforeAll(async () => {
  const times = { headMs: 300, arrivalMs: 900, checkMs: 50 };
  listener = await listenHttp(
    { host: '127.0.0.1', port: 0 },
    (request, response) => {
      begun += 1;
      request.resume().once('end', () => response.end('done'));
    },
    (error) => {
      throw error;
    },
    times,
  );
  port = Number(new URL(listener.url).port);
});
afterAll(() => listener.destroy());

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n';

it.each([
  ['nothing at all', ''],
  ['half a head', HEAD],
  ['half a line', 'POST /mcp HT'],
])('the connection of a client that sends %s is closed', async (_what, bytes) => {
  const client = openRaw(port);
  client.send(bytes);
  expect(statuses(await client.closed).every((status) => status === 408)).toBe(true);
  expect(begun).toBe(0);
});

it('the connection of a client that sends its head byte by byte is closed', async () => {
  const client = openRaw(port);
  client.send(HEAD);
  const timer = setInterval(() => client.send('X-A: b\r\n'), 20);
  await client.closed;
  clearInterval(timer);
  expect(begun).toBe(0);
});

it('connections of 200 clients that send their body byte by byte are closed, and other clients do not wait', async () => {
  const clients = Array.from({ length: 200 }, () => openRaw(port));
  for (const client of clients) client.send(`${HEAD}\r\nx`);
  const timer = setInterval(() => {
    for (const client of clients) client.send('x');
  }, 100);
  const good = openRaw(port);
  good.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(statuses(await good.until(/done/))).toEqual([200]);
  await Promise.all(clients.map(({ closed }) => closed));
  clearInterval(timer);
  for (const client of clients) expect(client.text()).not.toContain('done');
  good.socket.destroy();
});
