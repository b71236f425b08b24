// Sources whose servers send a little at a time, beside others: a real HTTP server and the outbound client.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { readUrl } from '#adapters/sources/url.ts';
import { systemClock } from '#hosts/clock.ts';
import { type Arrival, openTurns, type Turns } from '#registry/catalogue/turns.ts';

let server: Server;
let outbound: Outbound;
let base: string;

const MUCH = 64 * 1024;
const TURNS: Turns = { atATime: 4, slowMs: 10, small: MUCH, least: { bytes: MUCH, ms: 200 }, most: 32 };

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/good') {
      response.end(JSON.stringify({ servers: {}, more: ' '.repeat(2 * MUCH) }));
      return;
    }
    if (url === '/much') response.write(' '.repeat(2 * MUCH));
    const dripping = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(dripping));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], version: 'test', connections: 100 });
});

afterAll(async () => {
  await outbound.close();
  server.closeAllConnections();
  server.close();
});

function read(path: string, { arrived, tooSlow }: Arrival, signal = tooSlow) {
  const origin = { type: 'url', url: `${base}/${path}`, timeoutMs: 60_000 } as const;
  const key = { namespace: '', registry: 'r', source: path };
  return readUrl(outbound, { origin, key, signal: AbortSignal.any([signal, tooSlow]), arrived });
}

test('sources that send a little at a time keep no other from being read', async () => {
  const inTurn = openTurns(systemClock, TURNS);
  const end = new AbortController();
  const dripping = Array.from({ length: 8 }, () =>
    inTurn((arrival) => read('little', arrival, end.signal)).catch(({ code }) => code),
  );
  expect(await inTurn((arrival) => read('good', arrival))).toMatchObject({ extent: 'whole' });
  end.abort();
  expect(new Set(await Promise.all(dripping))).toEqual(new Set(['outbound-aborted']));
});

test('nor do those that send much first, which fail while others wait', async () => {
  const inTurn = openTurns(systemClock, TURNS);
  const dripping = Array.from({ length: 4 }, () => inTurn((arrival) => read('much', arrival)).catch(() => 'failed'));
  expect(await inTurn((arrival) => read('good', arrival))).toMatchObject({ extent: 'whole' });
  expect(await Promise.race(dripping)).toBe('failed');
  server.closeAllConnections();
  await Promise.all(dripping);
});
