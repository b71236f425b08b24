// A watch that cannot begin fails as other requests do.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { cleanups, connect, failureOf, serve, widgets } from '../../harness/api-server.ts';

const WATCHER = { opened: () => undefined, report: () => undefined, reached: () => undefined };

function follow({ watches }: ConnectedCluster, signal = new AbortController().signal): Promise<void> {
  return watches.follow({ kind: widgets }, '1', WATCHER, signal);
}

test('a certificate that cannot be read is a failure, and keeps no timer', async () => {
  const user = { 'client-certificate-data': 'aGVsbG8=', 'client-key-data': 'aGVsbG8=' };
  const { url } = await serve(() => 'silence');
  const cluster = await connect(url, { user });
  const timers = vi.spyOn(globalThis, 'setTimeout');
  cleanups.push(() => timers.mockRestore());
  const failure = await failureOf(() => follow(cluster));
  expect([failure.code, failure.message]).toEqual(['cluster-unreachable', expect.stringContaining('PEM routines')]);
  expect(timers.mock.calls.filter(([, ms]) => ms === 270_000)).toEqual([]);
});

test('of a refusal that does not end, a part is read', async () => {
  const endless = createServer((_request, response) => {
    response.writeHead(502);
    response.write(`bad gateway\n${'x'.repeat(100_000)}`);
  });
  endless.listen(0, '127.0.0.1');
  cleanups.push(() => {
    endless.closeAllConnections();
    endless.close();
  });
  await once(endless, 'listening');
  const { port } = endless.address() as AddressInfo;
  const connection = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined };
  const cluster = await connect(`http://127.0.0.1:${port}`, { cluster: connection });
  const failure = await failureOf(() => follow(cluster));
  expect([failure.code, failure.message]).toEqual([
    'cluster-error',
    expect.stringContaining('status 502: bad gateway'),
  ]);
});
