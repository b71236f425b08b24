// Starts a bridge in front of a server, and closes it after each test.

import { afterEach } from 'vitest';
import type { Backend } from '#gateway/backends/backend.ts';
import { bridgeEras } from '#gateway/backends/bridge/bridge.ts';
import type { BridgeLimits } from '#gateway/backends/bridge/ports.ts';
import { httpBackend, listenBefore, testClock, testSeal, testUpstream } from '../shim.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Registers an object that is closed after the test. */
export function closeLater<T extends { close(): unknown }>(closed: T): T {
  closing.push(() => closed.close());
  return closed;
}

export interface Bridged {
  readonly url: string;
  readonly backend: Backend;
}

export async function bridgeBefore(
  url: string,
  limits: Partial<BridgeLimits> = {},
  seal = testSeal(),
): Promise<Bridged> {
  const upstream = closeLater(testUpstream());
  const backend = bridgeEras(httpBackend(url, upstream), { clock: testClock, seal }, limits);
  closing.push(() => backend.close(0));
  const front = closeLater(await listenBefore(backend));
  return { url: front.url, backend };
}
