// Why a proxy is not ready is said where people look: in the body of /readyz, and once in the log.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { get, runProxy } from './world.ts';

test('the reason is in the body of /readyz as long as it lasts, and in the log once', async () => {
  const unready: unknown[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    request.resume();
    // The third check is answered: by then two of them have failed for one reason.
    refused += 1;
    response.writeHead(refused > 2 ? 200 : 503, { 'content-type': 'application/json' }).end('{}');
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
  const reason = 'the MCP server did not answer: status 503';
  expect(unready).toEqual([503, { status: 'not_ready', reason }]);
  const said = proxy.log.filter(({ msg }) => /^the proxy is not ready|the proxy is ready$/.test(String(msg)));
  expect(said.map(({ level, reason }) => [level, reason])).toEqual([
    ['warn', reason],
    ['info', undefined],
  ]);
});
