// Tests that a proxy serves calls while very many clients hold silent streams.

import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { call, openRaw, post, proxyBefore, startServer, stopAll } from './rig.ts';

afterAll(stopAll);

/** File descriptors of a stream: client, both sides of the proxy, and server are in this process. */
const DESCRIPTORS_OF_STREAM = 4;
const STREAMS = Math.min(10_000, Math.floor((descriptorsMax() - 1000) / DESCRIPTORS_OF_STREAM));

const AT_ONCE = 250;

function descriptorsMax(): number {
  const limits = process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : '';
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 5000);
}

it(`${STREAMS} silent streams stay open during calls, and end with the proxy`, async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const streams: ReturnType<typeof openRaw>[] = [];
  while (streams.length < STREAMS) {
    // Opens few connections at a time: a connection that waits too long would be closed as a slow client.
    const some = Array.from({ length: Math.min(AT_ONCE, STREAMS - streams.length) }, () => openRaw(proxy.port));
    for (const stream of some) stream.send('GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n');
    await Promise.all(some.map((stream) => stream.until(/event-stream/)));
    streams.push(...some);
  }
  for (let nonce = 0; nonce < 100; nonce += 1) {
    expect((await post(proxy.url, call('a', { nonce }))).text).toContain(`\\"nonce\\":${nonce}`);
  }
  expect(streams.filter(({ socket }) => socket.destroyed)).toEqual([]);
  await proxy.stop();
  await Promise.all(streams.map(({ closed }) => closed));
});
