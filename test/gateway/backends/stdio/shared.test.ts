// Tests a process that many clients share: which client gets which message, and the end of the process. In one file,
// because all tests begin with the same program.

import { afterEach, describe, expect, test } from 'vitest';
import type { Backend } from '#gateway/backends/backend.ts';
import { createSharedStdio, type SharedStdioParts } from '#gateway/backends/stdio/shared.ts';
import { call, openSession, request, toolCall } from './caller.ts';
import { type Counting, clock, countingObserver, FIXTURE, openProgram } from './world.ts';

const open: Backend[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((backend) => backend.close(0)));
});

function start(parts: Partial<SharedStdioParts> = {}): { backend: Backend; observer: Counting } {
  const observer = countingObserver();
  const backend = createSharedStdio({
    ...{ openStreams: openProgram(FIXTURE, ['mcp']), clock, observer, replica: 'r1' },
    clientInfo: { name: 'skep', version: '1' },
    ...parts,
  });
  open.push(backend);
  return { backend, observer };
}

describe('initialize', () => {
  test('gets the newest revision that client and process both support', async () => {
    const { backend } = start();
    const older = await openSession(backend, { params: { protocolVersion: '2025-03-26' } });
    expect(older.result.protocolVersion).toBe('2025-03-26');
    const unknown = await openSession(backend, { params: { protocolVersion: '1999-01-01' } });
    expect(unknown.result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'fixture' } });
  });

  test('does not offer tasks, because tasks belong to single clients', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    expect(session.result.capabilities).toEqual({
      tools: { listChanged: true },
      logging: {},
      resources: { subscribe: true },
    });
    const answer = await session.call(request('tasks/list')).end();
    expect(answer.json().error.code).toBe(-32601);
  });

  test('of many clients starts one process', async () => {
    const { backend } = start();
    const sessions = await Promise.all([openSession(backend), openSession(backend), openSession(backend)]);
    const pids = await Promise.all(sessions.map((session) => session.tool('pid')));
    expect(new Set(pids).size).toBe(1);
  });
});

test('a caller that opens too many sessions ends its own sessions', async () => {
  const { backend } = start({ limits: { sessions: 3 } });
  const other = await openSession(backend, { caller: 'other' });
  const first = await openSession(backend, { caller: 'greedy' });
  for (let count = 0; count < 3; count += 1) await openSession(backend, { caller: 'greedy' });
  const gone = call(backend, toolCall('pid'), { session: first.id, caller: 'greedy' });
  expect((await gone.end()).fault?.reason).toBe('session-unknown');
  expect(await other.tool('pid')).toMatch(/^\d+$/);
});

describe('a message of one client', () => {
  test('reaches this client even if another client uses the same ids', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    const b = await openSession(backend, { caller: 'b' });
    const ofA = a.call(toolCall('echo', { from: 'a' }, { id: 7 }));
    const ofB = b.call(toolCall('echo', { from: 'b' }, { id: 7 }));
    expect((await ofA.end()).json()).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: '{"from":"a"}' }] },
    });
    expect((await ofB.end()).json().result.content[0].text).toBe('{"from":"b"}');
  });

  test('keeps ids unchanged, including texts and 64-bit numbers', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const number = session.call('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}');
    expect((await number.end()).body()).toContain('"id":9007199254740993');
    const text = session.call('{"jsonrpc":"2.0","id":"7","method":"ping"}');
    expect((await text.end()).json().id).toBe('7');
  });

  test('reaches the process byte for byte, except ids', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const body =
      '{ "params": {"_meta":{"progressToken":"t"}, "name":"raw", "arguments":{"n":9007199254740993,"x":1e400}},\n "method":"tools/call","id":5,"jsonrpc":"2.0"}';
    const answer = await session.call(body).end();
    const seen: string = answer.json().result.content[0].text;
    expect(seen.replaceAll(/"r1\.\d+"/g, '#')).toBe(
      '{ "params": {"_meta":{"progressToken":#}, "name":"raw", "arguments":{"n":9007199254740993,"x":1e400}},  "method":"tools/call","id":#,"jsonrpc":"2.0"}',
    );
  });

  test('may be progress, with the token of the client, even if tokens are equal', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    const b = await openSession(backend, { caller: 'b' });
    const calls = [a, b].map((session) => session.call(toolCall('progress', {}, { id: 1, token: 1 })));
    for (const received of await Promise.all(calls.map((each) => each.end()))) {
      expect(received.events.map(({ message }) => message.params ?? message.result)).toEqual([
        { progressToken: 1, progress: 1 },
        { progressToken: 1, progress: 2 },
        { progressToken: 1, progress: 3 },
        { content: [{ type: 'text', text: 'done' }] },
      ]);
    }
  });

  test('is not a log message if other callers exist', async () => {
    const { backend, observer } = start();
    const a = await openSession(backend, { caller: 'a' });
    const alone = await a.call(toolCall('log', { text: 'of a' })).end();
    expect(alone.events[0]?.message.params.data).toBe('of a');
    await openSession(backend, { caller: 'b' });
    const together = await a.call(toolCall('log', { text: 'of a' })).end();
    expect(together.json().result.content[0].text).toBe('logged');
    expect(observer.drops.get('not-attributable')).toBe(1);
  });

  test('is not a log message if it belongs to an earlier caller', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    await a.end();
    const b = await openSession(backend, { caller: 'b' });
    const answer = await b.call(toolCall('log', { text: 'late' })).end();
    expect(answer.events).toEqual([]);
  });

  test('is not a log message or question if it belongs to an earlier anonymous caller', async () => {
    const { backend, observer } = start();
    const before = await openSession(backend, { caller: '' });
    const alone = await before.call(toolCall('log', { text: 'early' })).end();
    expect(alone.events[0]?.message.params.data).toBe('early');
    await before.end();
    const after = await openSession(backend, { caller: '' });
    const answer = await after.call(toolCall('log', { text: 'late' })).end();
    expect(answer.events).toEqual([]);
    const asked = await after.call(toolCall('ask', { method: 'sampling/createMessage', params: {} })).end();
    expect(asked.json().result.content[0].text).toContain('-32601');
    expect(observer.drops.get('not-attributable')).toBe(2);
  });

  test('cannot be requested by the process if two clients are connected', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    await openSession(backend, { caller: 'b' });
    const answer = await a.call(toolCall('ask', { method: 'sampling/createMessage', params: {} })).end();
    expect(answer.json().result.content[0].text).toContain('-32601');
  });

  test('can be requested by the process if only one client is connected', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const asking = session.call(toolCall('ask', { method: 'roots/list' }));
    await asking.until(({ events }) => events.length === 1);
    const { id, method } = asking.events[0]?.message ?? {};
    expect(method).toBe('roots/list');
    const said = await session.call({ jsonrpc: '2.0', id, result: { roots: [] } }).end();
    expect(said.status).toBe(202);
    await asking.end();
    expect(asking.events[1]?.message.result.content[0].text).toBe('{"roots":[]}');
  });
});

describe('a message for all clients', () => {
  test('reaches each client if it is about a changed list', async () => {
    const { backend } = start();
    const sessions = await Promise.all([openSession(backend, { caller: 'a' }), openSession(backend, { caller: 'b' })]);
    const streams = sessions.map((session) => session.listen());
    await sessions[0]?.tool('changed');
    for (const stream of streams) {
      await stream.until(({ events }) => events.some(({ message }) => message !== undefined));
      expect(stream.events.at(-1)?.message.method).toBe('notifications/tools/list_changed');
    }
  });

  test('reaches only subscribers if it is about a resource', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    const b = await openSession(backend, { caller: 'b' });
    const c = await openSession(backend, { caller: 'c' });
    const uri = 'test://x';
    for (const session of [a, b]) await session.call(request('resources/subscribe', { uri })).end();
    await a.tool('updated', { uri });
    const [ofA, ofB, ofC] = [a.listen(), b.listen(), c.listen()];
    const messages = (stream: typeof ofA) => stream.events.flatMap(({ message }) => message?.method ?? []);
    await ofA.until(() => messages(ofA).length === 1);
    await ofB.until(() => messages(ofB).length === 1);
    expect(messages(ofC)).toEqual([]);
    await a.call(request('resources/unsubscribe', { uri })).end();
    expect(await c.tool('subscriptions')).not.toContain('unsubscribe');
    await b.end();
    expect(await c.tool('subscriptions')).toContain('resources/unsubscribe test://x');
  });
});

describe('a cancelled call', () => {
  test('is cancelled at the process with its id there, and ends for the client', async () => {
    const { backend } = start({ limits: { keepAliveMs: 50, cancelledMs: 50 } });
    const session = await openSession(backend);
    const never = session.call(toolCall('never', {}, { id: 4 }));
    await session
      .call({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 4, reason: 'enough' } })
      .end();
    await never.end();
    expect(never.events.filter(({ message }) => message !== undefined)).toEqual([]);
    await session.end();
    expect(await (await openSession(backend)).tool('cancelled')).toMatch(/^\["r1\.\d+"\]$/);
  });

  test('is also a call whose client has ended its session', async () => {
    const { backend } = start();
    const a = await openSession(backend);
    const never = a.call(toolCall('never'));
    await a.end();
    expect((await never.end()).fault?.reason).toBe('closed');
    const b = await openSession(backend);
    expect(await b.tool('cancelled')).toMatch(/^\["r1\.\d+"\]$/);
  });

  test('is not a call whose client only lost its connection', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const never = session.call(toolCall('never'));
    never.abort();
    expect(await session.tool('cancelled')).toBe('[]');
  });
});

describe('a process', () => {
  test('that ends makes its calls fail, and ends the sessions once it runs again', async () => {
    const { backend } = start();
    const a = await openSession(backend, { caller: 'a' });
    const b = await openSession(backend, { caller: 'b' });
    const stream = b.listen();
    const first = await a.tool('pid');
    const never = b.call(toolCall('never'));
    const exit = await a.call(toolCall('exit')).end();
    expect(exit.json().error.message).toContain('may have been carried out');
    expect((await never.end()).json().error.code).toBe(-32603);
    await stream.end();
    expect((await a.call(request('ping')).end()).fault?.reason).toBe('session-unknown');
    const next = await openSession(backend, { caller: 'a' });
    expect(await next.tool('pid')).not.toBe(first);
  });

  test('that is killed in the middle of a call is started again', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const pid = Number(await session.tool('pid'));
    const never = session.call(toolCall('never'));
    process.kill(pid, 'SIGKILL');
    expect((await never.end()).json().error.message).toContain('ended');
    expect(await (await openSession(backend)).tool('echo', { a: 1 })).toBe('{"a":1}');
  });

  test('still serves calls although it writes invalid lines, partial lines and to stderr', async () => {
    const { backend, observer } = start();
    const session = await openSession(backend);
    expect(await session.tool('half')).toBe('whole');
    expect(await session.tool('garbage')).toBe('after garbage');
    expect(Object.fromEntries(observer.drops)).toEqual({ unreadable: 3, 'response-unknown': 1 });
    await observer.until('stderr of the MCP server: a word for the log');
  });

  test('that writes Latin-1 leads to replacement characters and one log message', async () => {
    const { backend, observer } = start();
    const session = await openSession(backend);
    for (const count of [1, 2]) expect(await session.tool('latin1', { count })).toBe('\ufffd'.repeat(count));
    expect(observer.lines.filter((line) => line.includes('not UTF-8'))).toHaveLength(1);
  });

  test('that writes a line that is too long after the replacement of characters is ended', async () => {
    const { backend, observer } = start({ maxLineBytes: 1000 });
    const session = await openSession(backend);
    const answer = await session.call(toolCall('latin1', { count: 500 })).end();
    expect(answer.json().error.code).toBe(-32603);
    expect(observer.lines.join('\n')).toContain('a line of more than 1000 bytes');
  });

  test('can write lines of 6 MB', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    expect((await session.tool('large', { size: 6_000_000 })).length).toBe(6_000_000);
  });

  test('that writes an endless line is ended before the line fills the memory', async () => {
    const { backend, observer } = start({ maxLineBytes: 100_000 });
    const session = await openSession(backend);
    const endless = await session.call(toolCall('endless', { size: 50_000_000 })).end();
    expect(endless.json().error.code).toBe(-32603);
    expect(observer.lines.join('\n')).toContain('a line of more than 100000 bytes');
    expect(await (await openSession(backend)).tool('echo', {})).toBe('{}');
  });

  test('that does not start is reported, and tried again later', async () => {
    const { backend } = start({ openStreams: openProgram('/does/not/exist.mjs') });
    const first = await call(backend, request('initialize', {})).end();
    expect(first.fault).toMatchObject({ reason: 'unreachable' });
    expect(await backend.probe()).toMatchObject({ available: false });
  });

  test('that does not read gets only a limited amount of input', async () => {
    const { backend } = start({ limits: { initializeMs: 5000 } });
    const session = await openSession(backend);
    const pid = Number(await session.tool('pid'));
    process.kill(pid, 'SIGSTOP');
    const before = process.memoryUsage().rss;
    const refused: string[] = [];
    for (let at = 0; at < 200; at += 1) {
      const received = session.call(toolCall('echo', { x: 'x'.repeat(1_000_000) }));
      if (received.fault !== undefined) refused.push(received.fault.reason);
      else received.abort();
    }
    expect(refused.length).toBeGreaterThan(150);
    expect(new Set(refused)).toEqual(new Set(['busy']));
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGKILL');
  });

  test('that is frozen makes its calls fail in time', async () => {
    const { backend } = start({ limits: { silenceMs: 300, keepAliveMs: 100 } });
    const session = await openSession(backend);
    const pid = Number(await session.tool('pid'));
    process.kill(pid, 'SIGSTOP');
    const frozen = await session.call(toolCall('echo', {}), { headers: { accept: 'application/json' } }).end();
    process.kill(pid, 'SIGKILL');
    expect(frozen.fault?.reason).toBe('timeout');
  });

  test('that has ended leaves no child processes', async () => {
    const { backend } = start();
    const session = await openSession(backend);
    const pid = Number(await session.tool('pid'));
    await backend.close(0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a client that reads slowly', () => {
  test('loses its stream, and neither stalls the process nor fills the memory', async () => {
    const { backend } = start();
    const slow = await openSession(backend);
    const flooded = slow.call(toolCall('flood', { count: 20_000, size: 10_000 }, { token: 1 }), { slow: true });
    const before = process.memoryUsage().rss;
    const other = await openSession(backend);
    expect(await other.tool('echo', { a: 1 })).toBe('{"a":1}');
    expect((await flooded.end()).fault?.message).toContain('too slowly');
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });
});

describe('the stateless era', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const stateless = (backend: Backend, method: string, params: object, id: number, more = {}) =>
    call(backend, request(method, { ...params, _meta: META }, id), { era: 'stateless', ...more });

  test('is served if the process supports it, and sessions are refused', async () => {
    const { backend } = start({ openStreams: openProgram(FIXTURE, ['modern']) });
    const answers = [{ a: 1 }, { b: 2 }].map((given) =>
      stateless(backend, 'tools/call', { name: 'echo', arguments: given }, 1).end(),
    );
    const texts = (await Promise.all(answers)).map((answer) => answer.json().result.content[0].text);
    expect(texts).toEqual(['{"a":1}', '{"b":2}']);
    expect(backend.eras()).toEqual(new Set(['stateless']));
    const refused = await call(backend, request('initialize', {})).end();
    expect(refused.fault?.reason).toBe('not-supported');
  });

  test('has its own statuses of errors, and requires client capabilities', async () => {
    const { backend } = start({ openStreams: openProgram(FIXTURE, ['modern']) });
    for (const method of ['no/such', 'initialize', 'ping', 'tasks/get']) {
      const unknown = await stateless(backend, method, method === 'tasks/get' ? { taskId: 'x' } : {}, 1).end();
      expect([unknown.status, unknown.json().error.code]).toEqual([404, -32601]);
    }
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const without = await call(backend, request('tools/list', { _meta }), { era: 'stateless' }).end();
    expect([without.status, without.json().error.code]).toEqual([400, -32602]);
  });

  test('has no streams to listen to and no sessions to end', async () => {
    const { backend } = start({ openStreams: openProgram(FIXTURE, ['modern']) });
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await call(backend, undefined, { era: 'stateless', method }).end()).status).toBe(405);
    }
  });

  test('sends log messages to the only call, even if other requests and subscriptions exist', async () => {
    const { backend, observer } = start({ openStreams: openProgram(FIXTURE, ['modern']) });
    const listening = stateless(backend, 'subscriptions/listen', { notifications: {} }, 1);
    await listening.until(({ events }) => events.length === 1);
    const discovered = stateless(backend, 'server/discover', { untilLog: true }, 2).end();
    const logged = await stateless(backend, 'tools/call', { name: 'log', arguments: { text: 'of 3' } }, 3).end();
    expect(logged.events[0]?.message.params.data).toBe('of 3');
    expect((await discovered).status).toBe(200);
    expect(observer.drops.get('not-attributable')).toBeUndefined();
  });

  test('ends a call without a response after the time limit, but not a subscription', async () => {
    const limits = { silenceMs: 300, keepAliveMs: 50 };
    const { backend } = start({ openStreams: openProgram(FIXTURE, ['modern']), limits });
    const listening = stateless(backend, 'subscriptions/listen', { notifications: {} }, 1);
    await listening.until(({ events }) => events.length > 0);
    const hanging = await stateless(backend, 'server/discover', { untilLog: true }, 2).end();
    expect(hanging.events.at(-1)?.message.error.message).toBe('the MCP server did not answer in time');
    expect(listening.ended).toBe(false);
    listening.abort();
  });

  test('separates subscriptions, and ends them with the connection or the process', async () => {
    const { backend } = start({ openStreams: openProgram(FIXTURE, ['modern']) });
    const notifications = { toolsListChanged: true };
    const streams = [0, 1].map(() => stateless(backend, 'subscriptions/listen', { notifications }, 1));
    for (const stream of streams) await stream.until(({ events }) => events.length === 1);
    await stateless(backend, 'tools/call', { name: 'changed' }, 2).end();
    for (const stream of streams) {
      await stream.until(({ events }) => events.length === 2);
      const ids = stream.events.map(({ message }) => message.params._meta['io.modelcontextprotocol/subscriptionId']);
      expect(ids).toEqual([1, 1]);
    }
    streams[0]?.abort();
    const cancelled = await stateless(backend, 'tools/call', { name: 'cancelled' }, 3).end();
    expect(cancelled.json().result.content[0].text).toMatch(/^\["r1\.\d+"\]$/);
    await stateless(backend, 'tools/call', { name: 'over' }, 4).end();
    await streams[1]?.end();
    expect(streams[1]?.events.at(-1)?.message).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } },
    });
  });
});
