// The size of `initialize`, of which sessions keep parts for as long as they live.

import { afterAll, expect, it } from 'vitest';
import { INITIALIZE, post, proxyBefore, startServer, stopAll } from './rig.ts';

afterAll(stopAll);

it('an initialize beyond 16 KiB is refused and reaches no server; a smaller one begins a session', async () => {
  const server = await startServer();
  const proxy = await proxyBefore(server.port);
  const sized = (length: number) => ({
    ...INITIALIZE,
    params: { ...INITIALIZE.params, capabilities: { experimental: { x: { y: 'z'.repeat(length) } } } },
  });
  const refused = await post(proxy.url, sized(17_000));
  expect([refused.status, refused.code, server.received.length]).toEqual([413, -32600, 0]);
  const begun = await post(proxy.url, sized(15_000));
  expect([begun.status, begun.headers.get('mcp-session-id') !== null]).toEqual([200, true]);
});
