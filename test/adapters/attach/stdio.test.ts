// Stdio servers in containers of a development cluster: sessions over a line that breaks, a container that is started again.

import { afterEach, expect, test } from 'vitest';
import { createAttach, createPods } from '#adapters/attach/attach.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import { createPerSessionStdio } from '#gateway/backends/stdio/per-session.ts';
import { createSharedStdio, type SharedStdioParts } from '#gateway/backends/stdio/shared.ts';
import type { Failure } from '#std/failure.ts';
import { openSession, request, toolCall } from '../../gateway/backends/stdio/caller.ts';
import { type Counting, clock, countingObserver, FIXTURE, serverProgram } from '../../gateway/backends/stdio/world.ts';
import { type AttachWorld, openAttachWorld, POD } from './world.ts';

let world: AttachWorld | undefined;
let backend: Backend | undefined;

afterEach(async () => {
  await backend?.close(0);
  await world?.stop();
});

function shared(started: AttachWorld, more: Partial<SharedStdioParts> = {}): { backend: Backend; observer: Counting } {
  const observer = countingObserver();
  const clientInfo = { name: 'skep', version: '1' };
  const openStreams = createAttach(started.options);
  const made = createSharedStdio({ openStreams, clock, observer, replica: 'r1', clientInfo, ...more });
  backend = made;
  return { backend: made, observer };
}

test('server-everything answers through a container', async () => {
  world = await openAttachWorld();
  await world.run(serverProgram('server-everything'), ['stdio']);
  const session = await openSession(shared(world).backend);
  expect(await session.tool('echo', { message: 'hello' })).toBe('Echo: hello');
});

test('a line of 6 MB comes whole', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['mcp']);
  const session = await openSession(shared(world).backend);
  expect((await session.tool('large', { size: 6_000_000 })).length).toBe(6_000_000);
});

test('sessions go on where only the connection broke, and calls in flight fail', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['mcp']);
  const started = shared(world);
  const session = await openSession(started.backend);
  const pid = await session.tool('pid');
  const never = session.call(toolCall('never'));
  world.containers.sever(POD);
  expect((await never.end()).json().error.message).toContain('may have been carried out');
  await waitFor(() => started.backend.probe());
  expect(await session.tool('pid')).toBe(pid);
});

test('sessions end where the container was started again', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['mcp']);
  const started = shared(world);
  const session = await openSession(started.backend);
  const pid = await session.tool('pid');
  const stream = session.listen();
  world.containers.signal(POD, 'SIGKILL');
  await world.containers.ended(POD);
  await world.run(FIXTURE, ['mcp']);
  await stream.end();
  expect((await session.call(request('ping')).end()).fault?.reason).toBe('session-unknown');
  expect(await (await openSession(started.backend)).tool('pid')).not.toBe(pid);
});

test('a line that is dead with v5 is noticed by a ping of our own', async () => {
  world = await openAttachWorld(['v5.channel.k8s.io']);
  await world.run(FIXTURE, ['mcp']);
  const started = shared(world, { silentMs: 200 });
  await openSession(started.backend);
  world.containers.freeze(POD, true);
  await started.observer.until('has not answered a ping');
});

test('one replica leaves the answers to another alone', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['mcp']);
  const first = shared(world);
  const session = await openSession(first.backend);
  const second = createSharedStdio({
    ...{ openStreams: createAttach(world.options), clock, observer: countingObserver(), replica: 'r2' },
    clientInfo: { name: 'skep', version: '1' },
  });
  const other = await openSession(second);
  const answers = await Promise.all([session.tool('echo', { of: 1 }), other.tool('echo', { of: 2 })]);
  expect(answers).toEqual(['{"of":1}', '{"of":2}']);
  expect(first.observer.drops.get('response-unknown')).toBeGreaterThan(0);
  await second.close(0);
});

test('a pod that served a session is replaced, and the next session waits for the new one', async () => {
  world = await openAttachWorld();
  await world.run(FIXTURE, ['mcp'], {}, { stdinOnce: true });
  const failed = (failure: Failure): void => expect.fail(failure.message);
  const processes = createPods({ ...world.options, replacePod: { failed } });
  const pool = createPerSessionStdio({ processes, pods: 1, clock, observer: countingObserver(), replica: 'r1' });
  backend = pool;
  expect((await pool.probe()).available).toBe(true);
  const first = await openSession(pool);
  const pid = await first.tool('pid');
  const second = openSession(pool);
  await first.end();
  await world.containers.ended(POD);
  await world.replace();
  await world.run(FIXTURE, ['mcp'], {}, { stdinOnce: true });
  expect(await (await second).tool('pid')).not.toBe(pid);
});

/** Settled once the backend is available. */
async function waitFor(probe: () => Promise<{ available: boolean }>): Promise<void> {
  while (!(await probe()).available) await new Promise((resolve) => setTimeout(resolve, 20));
}
