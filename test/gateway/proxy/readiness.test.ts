// Tests that the body of /readyz contains the reason why a proxy is not ready, and that the log contains it once.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { get, runProxy } from './world.ts';

/** Statuses of the first checks. Each check sends two requests, and the reason changes with each check. */
const STATUSES = [503, 503, 502, 502, 503, 503, 502, 502];

test('the body of /readyz contains the current reason, and the log contains it once', async () => {
  const unready: unknown[] = [];
  let checks = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(STATUSES[checks++] ?? 200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await runProxy({ target_host: '127.0.0.1', target_port: (server.address() as AddressInfo).port });
  const readyz = () => get(`${proxy.origin}/readyz`);
  try {
    await proxy.written('the proxy is not ready');
    const { status, json } = await readyz();
    unready.push(status, json);
    await proxy.written('the proxy is ready');
    expect((await readyz()).json).toEqual({ status: 'ready' });
  } finally {
    await proxy.stop();
    server.close();
  }
  const reasons = [503, 502].map((status) => `the MCP server did not answer: status ${status}`);
  expect(unready).toEqual([503, { status: 'not_ready', reason: expect.toBeOneOf(reasons) }]);
  const said = proxy.log.filter(({ msg }) => /^the proxy is not ready|the proxy is ready$/.test(String(msg)));
  expect(said.map(({ level, reason }) => [level, reason])).toEqual([
    ...reasons.map((reason) => ['warn', reason]),
    ['info', undefined],
  ]);
});
