// Tests that responses of a server reach the client unchanged, for any size and any number of chunks.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AttackedProxy, call, HEADERS, proxyBefore, type Received, startServer, stopAll } from './rig.ts';

let proxy: AttackedProxy;
let answer: (received: Received) => void;

beforeAll(async () => {
  const { port } = await startServer((received) => answer(received));
  proxy = await proxyBefore(port);
});
afterAll(stopAll);

/** Returns bytes of all values, which are not valid text in any encoding. */
function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => index % 256));
}

async function received(): Promise<Buffer> {
  const response = await fetch(proxy.url, { method: 'POST', headers: HEADERS, body: JSON.stringify(call('a')) });
  return Buffer.from(await response.arrayBuffer());
}

it.each([0, 1, 255, 256, 1024, 16_384, 16_385, 70_000, 1_000_000])('%i bytes of a known length', async (length) => {
  const bytes = bytesOf(length);
  answer = ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(bytes);
  };
  expect((await received()).equals(bytes)).toBe(true);
});

it.each([
  { known: 'of a known length', headers: { 'content-length': 512 } },
  { known: 'of a length that only their end tells', headers: {} },
])('bytes in two pieces, $known', async ({ headers }) => {
  const bytes = bytesOf(512);
  answer = ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write(bytes.subarray(0, 256), () => setImmediate(() => response.end(bytes.subarray(256))));
  };
  expect((await received()).equals(bytes)).toBe(true);
});
