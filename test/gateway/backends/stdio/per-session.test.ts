// Tests the backend with a process for each session: the traffic of one process, and the assignment of processes to
// sessions. In one file, because all tests begin with the same program and pool.

import { afterEach, describe, expect, test } from 'vitest';
import { createSessionProcesses } from '#adapters/process/process.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import type { Processes } from '#gateway/backends/ports.ts';
import { createPerSessionStdio, type PerSessionStdioParts } from '#gateway/backends/stdio/per-session.ts';
import { call, openSession, request, toolCall } from './caller.ts';
import { type Counting, clock, countingObserver, FIXTURE, processEnded, quickClock, sessionProgram } from './world.ts';

const opened: Backend[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((backend) => backend.close(0)));
});

function start(parts: Partial<PerSessionStdioParts> = {}): { backend: Backend; observer: Counting } {
  const observer = countingObserver();
  const processes = sessionProgram(FIXTURE, ['mcp']);
  const backend = createPerSessionStdio({ processes, pods: 2, clock, observer, replica: 'r1', ...parts });
  opened.push(backend);
  return { backend, observer };
}

/** Starts a backend whose clock a test can advance. The real time also passes, but is short in comparison. */
function startWithTime(): { backend: Backend; pass: (ms: number) => void } {
  let passed = 0;
  const { backend } = start({ clock: { ...clock, monotonic: () => clock.monotonic() + passed } });
  return {
    backend,
    pass(ms) {
      passed += ms;
    },
  };
}

describe('processes', () => {
  test('are started one per session, and without a free process the error says when to retry', async () => {
    const { backend } = start({ clock: quickClock });
    const [a, b] = await Promise.all([openSession(backend), openSession(backend)]);
    expect(await a?.tool('pid')).not.toBe(await b?.tool('pid'));
    const third = await call(backend, request('initialize', {})).end();
    expect(third.fault).toMatchObject({ reason: 'busy', retryAfterSeconds: 5 });
  });

  test('never serve a second session', async () => {
    const { backend } = start({ pods: 1 });
    const first = await openSession(backend);
    const pid = Number(await first.tool('pid'));
    await first.end();
    const second = await openSession(backend);
    expect(await second.tool('pid')).not.toBe(String(pid));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('are assigned to waiting clients in order', async () => {
    const { backend } = start({ pods: 1 });
    const first = await openSession(backend);
    const order: string[] = [];
    const waiting = ['second', 'third'].map(async (name) => {
      const session = await openSession(backend);
      order.push(name);
      await session.end();
    });
    await first.end();
    await Promise.all(waiting);
    expect(order).toEqual(['second', 'third']);
  });

  test('are taken from the session that was idle for the longest time, for another caller', async () => {
    const { backend, pass } = startWithTime();
    const first = await openSession(backend);
    first.listen();
    pass(30_000);
    const second = await openSession(backend);
    pass(40_000);
    await openSession(backend, { caller: 'other' });
    const gone = call(backend, toolCall('pid'), { session: first.id });
    expect((await gone.end()).fault?.reason).toBe('session-unknown');
    expect(await second.tool('pid')).toMatch(/^\d+$/);
  });

  test('are not taken from other callers by a caller that already has a process', async () => {
    const { backend, pass } = startWithTime();
    const other = await openSession(backend);
    const own = await openSession(backend, { caller: 'greedy' });
    pass(90_000);
    await own.tool('pid');
    const refused = call(backend, request('initialize', {}), { caller: 'greedy' });
    pass(20_000);
    expect((await refused.end()).fault?.reason).toBe('busy');
    pass(60_000);
    await openSession(backend, { caller: 'greedy' });
    const gone = call(backend, toolCall('pid'), { session: own.id, caller: 'greedy' });
    expect((await gone.end()).fault?.reason).toBe('session-unknown');
    expect(await other.tool('pid')).toMatch(/^\d+$/);
  });

  test('can be waited for by a limited number of clients per caller, and by other callers', async () => {
    const { backend } = start({ pods: 1 });
    const first = await openSession(backend);
    const greedy = Array.from({ length: 40 }, () => call(backend, request('initialize', {}), { caller: 'greedy' }));
    await Promise.all(greedy.slice(5).map((each) => each.end()));
    expect(greedy.map(({ fault }) => fault?.reason)).toEqual([...Array(5).fill(undefined), ...Array(35).fill('busy')]);
    const other = openSession(backend, { caller: 'other' });
    for (const each of greedy) each.abort();
    await first.end();
    expect(await (await other).tool('pid')).toMatch(/^\d+$/);
  });

  test('are not started for clients that have disconnected', async () => {
    const { open, check } = sessionProgram(FIXTURE, ['mcp']);
    let opened = 0;
    const processes: Processes = {
      check,
      open: (index, handlers) => {
        opened += 1;
        return open(index, handlers);
      },
    };
    const { backend } = start({ pods: 1, processes });
    const first = await openSession(backend);
    const waiting = ['a', 'b', 'c'].map((caller) => call(backend, request('initialize', {}), { caller }));
    for (const each of waiting) each.abort();
    await first.end();
    await openSession(backend, { caller: 'other' });
    expect(opened).toBe(2);
  });

  test('are not occupied by health checks', async () => {
    const { open, check } = sessionProgram(FIXTURE, ['mcp']);
    let opened = 0;
    const processes: Processes = {
      check,
      open: (index, handlers) => {
        opened += 1;
        return open(index, handlers);
      },
    };
    const { backend } = start({ pods: 1, processes });
    for (let at = 0; at < 3; at += 1) expect((await backend.probe()).available).toBe(true);
    expect(opened).toBe(0);
    const session = await openSession(backend);
    expect((await backend.probe()).available).toBe(true);
    await session.end();
    expect((await backend.probe()).available).toBe(true);
    expect(opened).toBe(1);
  });

  test('that do not start make the health check fail, and sessions do not wait for them', async () => {
    const { backend } = start({ pods: 1, processes: sessionProgram('--no-such-option') });
    expect((await backend.probe()).available).toBe(true);
    const missing = createSessionProcesses({ command: ['/does/not/exist'], env: {}, graceMs: 1, clock });
    const { backend: other } = start({ pods: 1, processes: missing });
    expect(await other.probe()).toMatchObject({ available: false, error: expect.stringContaining('does not start') });
    expect((await call(other, request('initialize', {})).end()).fault?.reason).toBe('unreachable');
  });

  test('that still run after their session are not used again', async () => {
    // The instance stays the same, as if the container had not been restarted yet.
    const { open, check } = sessionProgram(FIXTURE, ['mcp']);
    const processes: Processes = {
      check,
      open: async (index, handlers) => ({ ...(await open(index, handlers)), instance: 'always the same' }),
    };
    const { backend } = start({ pods: 1, processes, clock: quickClock });
    const first = await openSession(backend);
    const pid = Number(await first.tool('pid'));
    await first.end();
    await processEnded(pid);
    // The next connection would reach the run of the first session.
    expect((await call(backend, request('initialize', {})).end()).fault?.reason).toBe('busy');
  });

  test('are never used by more sessions than processes exist', async () => {
    const { open, check } = sessionProgram(FIXTURE, ['mcp']);
    let running = 0;
    let most = 0;
    const openOne: Processes['open'] = async (index, handlers) => {
      running += 1;
      most = Math.max(most, running);
      const opened = await open(index, handlers);
      return {
        ...opened,
        async close() {
          await opened.close();
          running -= 1;
        },
      };
    };
    const { backend } = start({ pods: 1, processes: { open: openOne, check } });
    for (let at = 0; at < 3; at += 1) {
      const session = await openSession(backend);
      await session.end();
    }
    expect(most).toBe(1);
  });

  test('that end also end their session, and no other session', async () => {
    const { backend } = start();
    const [a, b] = await Promise.all([openSession(backend), openSession(backend)]);
    expect((await a.call(toolCall('exit')).end()).fault?.reason).toBe('closed');
    expect((await a.call(request('ping')).end()).fault?.reason).toBe('session-unknown');
    expect(await b.tool('echo', { a: 1 })).toBe('{"a":1}');
  });

  test('end with the backend', async () => {
    const { backend } = start();
    const sessions = await Promise.all([openSession(backend), openSession(backend)]);
    const pids = await Promise.all(sessions.map((session) => session.tool('pid')));
    await backend.close(0);
    for (const pid of pids) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  });
});

describe('a call', () => {
  test('gets a JSON body if the response is the only message', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const answer = await session.call(toolCall('echo', { a: 1 }, { id: 1 })).end();
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(answer.json()).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: '{"a":1}' }] } });
  });

  test('gets events if progress precedes the response', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const answer = await session.call(toolCall('progress', {}, { token: 't' })).end();
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.events.map(({ id }) => id)).toEqual(['r1.0.0', 'r1.0.1', 'r1.0.2', 'r1.0.3']);
  });

  test('gets only the response if its client accepts only JSON', async () => {
    const { backend, observer } = start();
    const session = await openSession(backend);
    const headers = { accept: 'application/json' };
    const answer = await session.call(toolCall('progress', {}, { token: 't' }), { headers }).end();
    expect(answer.json().result.content[0].text).toBe('done');
    expect(observer.drops.get('client-gone')).toBe(3);
  });

  test('with the id of another call in flight is refused', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    session.call(toolCall('never', {}, { id: 1 }));
    const second = await session.call(toolCall('echo', {}, { id: 1 })).end();
    expect(second.status).toBe(400);
    expect(second.json()).toMatchObject({ id: 1, error: { code: -32600 } });
    const text = await session.call(toolCall('echo', {}, { id: '1' })).end();
    expect(text.status).toBe(200);
  });

  test('beyond the limit of calls in flight is refused as busy', async () => {
    const { backend } = start({ limits: { calls: 2 } });
    const session = await openSession(backend);
    for (const id of [1, 2]) session.call(toolCall('never', {}, { id }));
    expect((await session.call(toolCall('echo')).end()).fault?.reason).toBe('busy');
  });

  test('that takes long gets a stream with keep-alives, which can be resumed', async () => {
    const { backend } = start({ limits: { keepAliveMs: 30 } });
    const session = await openSession(backend);
    const never = session.call(toolCall('never', {}, { id: 1 }));
    await never.until(({ bytes, events }) => events.length === 1 && bytes > 80);
    expect(never.events[0]).toMatchObject({ id: expect.stringMatching(/^r1\.\d+\.0$/), message: undefined });
  });
});

test('a line that is not UTF-8 becomes a response with replacement characters', async () => {
  const { backend } = start();
  const session = await openSession(backend);
  expect(await session.tool('latin1', { count: 1 })).toBe('\ufffd');
});

describe('a question of the server', () => {
  test('is sent on the stream of the call in flight, and the answer reaches the server', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const asking = session.call(toolCall('ask', { method: 'elicitation/create', params: { message: 'name?' } }));
    await asking.until(({ events }) => events.length === 1);
    const { id } = asking.events[0]?.message ?? {};
    await session.call({ jsonrpc: '2.0', id, result: { action: 'accept' } }).end();
    expect((await asking.end()).events[1]?.message.result.content[0].text).toBe('{"action":"accept"}');
  });

  test('waits for a stream if the response of the call is JSON', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const headers = { accept: 'application/json' };
    const asking = session.call(toolCall('ask', { method: 'roots/list' }), { headers });
    const stream = session.listen();
    await stream.until(({ events }) => events.some(({ message }) => message !== undefined));
    const { id } = stream.events.at(-1)?.message ?? {};
    await session.call({ jsonrpc: '2.0', id, result: { roots: [] } }).end();
    expect((await asking.end()).json().result.content[0].text).toBe('{"roots":[]}');
  });

  test('can be answered once: a second answer is dropped', async () => {
    const { backend, observer } = start();
    const session = await openSession(backend);
    const response = { jsonrpc: '2.0', id: 'nobody asked', result: {} };
    expect((await session.call(response).end()).status).toBe(202);
    expect(observer.drops.get('response-unknown')).toBe(1);
  });
});

describe('a session', () => {
  test('is 404 for an unknown id and for another caller, and 400 without an id', async () => {
    const { backend } = start();
    const session = await openSession(backend, { caller: 'a' });
    const answer = (more: object) => call(backend, request('ping', undefined, 1), more).end();
    expect((await answer({ session: 'invented' })).fault?.reason).toBe('session-unknown');
    expect((await answer({ session: session.id, caller: 'b' })).fault?.reason).toBe('session-unknown');
    expect((await answer({})).status).toBe(400);
    expect((await answer({ session: session.id, caller: 'a' })).status).toBe(200);
  });

  test('does not begin if the server refuses initialize', async () => {
    const { backend } = start({ processes: sessionProgram(FIXTURE, ['modern']), pods: 1 });
    const answer = await call(backend, request('initialize', {}, 1)).end();
    expect(answer.json().error.code).toBe(-32601);
    expect(answer.headers['mcp-session-id']).toBeUndefined();
  });

  test('refuses an unknown protocol revision', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const headers = { 'mcp-protocol-version': '1999-01-01' };
    expect((await session.call(request('ping'), { headers }).end()).status).toBe(400);
  });

  test('ends with DELETE, together with its streams and its process', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const stream = session.listen();
    expect((await session.end()).status).toBe(204);
    expect((await stream.end()).ended).toBe(true);
    expect((await session.call(request('ping')).end()).fault?.reason).toBe('session-unknown');
  });

  test('ends after some idle time, unless a client listens', async () => {
    const { backend } = start({ limits: { idleMs: 1000, keepAliveMs: 100 } });
    const listening = await openSession(backend);
    const stream = listening.listen();
    const idle = await openSession(backend);
    await processEnded(Number(await idle.tool('pid')));
    const refused = await idle.call(undefined, { method: 'GET' }).end();
    expect([refused.fault?.reason, stream.ended, stream.fault]).toEqual(['session-unknown', false, undefined]);
    expect(await listening.tool('echo', {})).toBe('{}');
  });
});

describe('the stateless era', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const stateless = (backend: Backend, name: string, given: object, id: number) =>
    call(backend, request('tools/call', { name, arguments: given, _meta: META }, id), { era: 'stateless' });

  test('is served by one process if the processes support it, and sessions are refused', async () => {
    const { backend } = start({ processes: sessionProgram(FIXTURE, ['modern']), pods: 1 });
    expect(backend.eras()).toBeUndefined();
    const answers = [{ a: 1 }, { b: 2 }].map((given) => stateless(backend, 'echo', given, 1).end());
    const texts = (await Promise.all(answers)).map((answer) => answer.json().result.content[0].text);
    expect(texts).toEqual(['{"a":1}', '{"b":2}']);
    expect(backend.eras()).toEqual(new Set(['stateless']));
    expect((await call(backend, request('initialize', {})).end()).fault?.reason).toBe('not-supported');
  });

  test('is refused if the processes support only sessions, and a session can use the started process', async () => {
    const { backend } = start({ pods: 1 });
    expect((await stateless(backend, 'echo', {}, 1).end()).fault?.reason).toBe('not-supported');
    expect(backend.eras()).toEqual(new Set(['session']));
    const session = await openSession(backend);
    expect(await session.tool('echo', {})).toBe('{}');
  });
});

describe('a client that comes back', () => {
  test('gets missed events of a call, and the response', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const asking = session.call(toolCall('ask', { method: 'roots/list' }));
    await asking.until(({ events }) => events.length === 1);
    asking.abort();
    const { id } = asking.events[0]?.message ?? {};
    await session.call({ jsonrpc: '2.0', id, result: { roots: [] } }).end();
    await session.tool('echo');
    const resumed = await session.listen({ 'last-event-id': String(asking.events[0]?.id) }).end();
    expect(resumed.events.map(({ message }) => message.result.content[0].text)).toEqual(['{"roots":[]}']);
  });

  test('gets messages that were sent while it did not listen', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const first = session.listen();
    await first.until(({ events }) => events.length === 1);
    first.abort();
    await session.tool('changed');
    await session.tool('changed');
    const second = session.listen({ 'last-event-id': String(first.events[0]?.id) });
    await second.until(({ events }) => events.length === 2);
    expect(second.events.map(({ id }) => id)).toEqual(['r1.0.1', 'r1.0.2']);
  });

  test('with an event id of another replica or stream is refused', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    for (const last of ['r2.0.0', 'r1.99.0', 'r1.0.5', 'x', '']) {
      expect((await session.listen({ 'last-event-id': last }).end()).status).toBe(400);
    }
  });
});

describe('a client that reads slowly', () => {
  test('slows down its process, and finally gets all messages', async () => {
    const { backend } = start({ limits: { stallMs: 60_000 } });
    const session = await openSession(backend);
    const before = process.memoryUsage().rss;
    const flooded = session.call(toolCall('flood', { count: 20_000, size: 10_000 }), { slow: true });
    await flooded.until(({ bytes }) => bytes > 10_000);
    const other = await openSession(backend);
    expect(await other.tool('echo', {})).toBe('{}');
    expect(flooded.events.length).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    flooded.resume();
    await flooded.end();
    expect(flooded.events.length).toBe(20_001);
    expect(flooded.fault).toBeUndefined();
  });

  test('for too long loses its stream, and its other calls continue', async () => {
    const { backend } = start({ limits: { stallMs: 100, keepAliveMs: 30 } });
    const session = await openSession(backend);
    const flooded = session.call(toolCall('flood', { count: 2000, size: 10_000 }), { slow: true });
    expect((await flooded.end()).fault?.message).toContain('too slowly');
    expect(await session.tool('echo', {})).toBe('{}');
  });
});
