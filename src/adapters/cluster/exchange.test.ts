// Tests that no request is sent after a fence has thrown, even if the request was waiting, is repeated or has no
// connection. Also tests that requests without a connection are not sent after their timeout.

import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { busy, connect, failureOf, serve, widget } from '../../../test/harness/api-server.ts';
import { Agent } from '../http/undici.ts';
import { exchange } from './exchange.ts';

test('after the fence refuses, nothing is written, not even by waiting or repeated requests', async () => {
  let fallen = false;
  const { url, received } = await serve(({ body }) => {
    fallen = true;
    return body.includes('"busy"') ? busy : { json: widget };
  });
  const cluster = await connect(url, { concurrency: 1 });
  await cluster.resources();
  cluster.fence(() => {
    if (fallen) throw new Failure('lock-lost', 'the lease ran out');
  });
  const named = (name: string) => ({ ...widget, metadata: { ...widget.metadata, name } });
  const outcomes = await Promise.allSettled([
    cluster.apply(named('busy'), { force: false }),
    cluster.apply(named('queued'), { force: false }),
    cluster.remove({ apiVersion: 'example.com/v2', kind: 'Widget', namespace: 'ns', name: 'removed' }, 'uid'),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done'))).toEqual([
    'lock-lost',
    'lock-lost',
    'lock-lost',
  ]);
  expect(received.length).toBe(1);
  await cluster.apply(named('dry'), { force: false, dryRun: true });
  cluster.fence(undefined);
  await cluster.apply(named('after'), { force: false });
  expect(received.length).toBe(3);
});

test('if the fence refuses while a connection is opened, no byte of the request is sent', async () => {
  const { url, received } = await serve(() => ({ json: widget }));
  const cluster = await connect(url);
  await cluster.resources();
  let checks = 0;
  cluster.fence(() => {
    checks += 1;
    if (checks === 2) throw new Failure('lock-lost', 'the lease ran out');
  });
  const failure = await failureOf(() => cluster.apply(widget, { force: false }));
  expect(failure.code).toBe('lock-lost');
  expect(received).toEqual([]);
  expect(await cluster.apply(widget, { force: false })).toEqual(widget);
  expect(received.map(({ method }) => method)).toEqual(['PATCH']);
});

test('a request that has no connection at its time limit is not sent', async () => {
  const { url, received } = await serve(() => ({ json: widget }));
  const door = createServer();
  const arrived = once(door, 'connection');
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  const agent = new Agent({ connections: 1, connect: { timeout: 60_000, rejectUnauthorized: false } });
  const options = { origin: `https://127.0.0.1:${port}`, path: '/', method: 'GET' as const };
  const late = exchange(agent, { options, timeoutMs: 1, maxBytes: 100, fence: undefined });
  const [socket] = await arrived;
  // This timer fires after the timeout of 1 ms, because timers fire in the order of their times.
  await setTimeout(2);
  socket.pipe(connectTo(Number(new URL(url).port), '127.0.0.1')).pipe(socket);
  expect({ late: await late, received }).toEqual({ late: undefined, received: [] });
  await agent.close();
  door.close();
});

test.each([
  { bytes: 100, read: true },
  { bytes: 101, read: false },
])('a body of $bytes bytes with a limit of 100 is read completely or not at all', async ({ bytes, read }) => {
  const { url } = await serve(() => ({ json: 'x'.repeat(bytes - 2) }));
  const agent = new Agent({ connections: 1, connect: { rejectUnauthorized: false } });
  const options = { origin: url, path: '/', method: 'GET' as const };
  const received = await exchange(agent, { options, timeoutMs: 60_000, maxBytes: 100, fence: undefined });
  await agent.destroy();
  expect({ status: received?.status, length: received?.bytes?.length }).toEqual({
    status: 200,
    length: read ? bytes : undefined,
  });
});
