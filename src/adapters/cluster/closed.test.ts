// Tests a client that is closed during requests: it reports the failure and does not repeat the requests.

import { once } from 'node:events';
import { expect, test } from 'vitest';
import { systemClock } from '#hosts/clock.ts';
import type { Exchange } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import { connect, serve, status, widgets } from '../../../test/harness/api-server.ts';

test('a client that is closed during a request sends no further request', async () => {
  const begun = Promise.withResolvers<void>();
  const exchanges: Exchange[] = [];
  const { url } = await serve(() => {
    begun.resolve();
    return 'silence';
  });
  const cluster = await connect(url, { observe: (exchange) => exchanges.push(exchange) });
  const listing = cluster.list(widgets).catch((error: unknown) => error);
  await begun.promise;
  await cluster.close();
  expect(await listing).toBeInstanceOf(Failure);
  expect(exchanges.length).toBe(1);
});

test("a client that is closed before it repeats a request reports the server's last response", async () => {
  const asked = Promise.withResolvers<void>();
  const { url, received } = await serve(() => status(503, 'ServiceUnavailable', 'starting'));
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> => {
    asked.resolve();
    return aborted(signal);
  };
  const clock = { ...systemClock, sleep };
  const cluster = await connect(url, { clock });
  const listing = cluster.list(widgets).catch((error: unknown) => error);
  await asked.promise;
  await cluster.close();
  expect(String(await listing)).toContain('starting');
  expect(received.length).toBe(1);
});

async function aborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal !== undefined) await once(signal, 'abort');
}
