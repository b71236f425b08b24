// Tests a server that sleeps: real processes as pods of a development cluster, and the proxy that stops and starts them.

import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FaultAction } from '#kubernetes/devcluster/http/faults.ts';
import { eventually } from '../../harness/cluster.ts';
import { type Mode, openSleepWorld, type Sleeper, type SleepWorld } from './sleep-world.ts';
import { type Answered, callTool, get, send } from './world.ts';

let world: SleepWorld;
beforeAll(async () => {
  world = await openSleepWorld();
});
afterEach(() => world.stopProxies());
afterAll(() => world.stop());

const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };

/** The text of a tool's answer: the process that answered. */
function textOf({ json }: Answered): string {
  return json?.result?.content?.[0]?.text;
}

async function beginSession(proxy: { readonly url: string }): Promise<Record<string, string>> {
  const { headers, status } = await send(proxy, 'initialize', INITIALIZE);
  expect(status).toBe(200);
  const session = headers.get('mcp-session-id');
  return session === null ? {} : { 'mcp-session-id': session };
}

async function ready({ proxy }: Sleeper): Promise<void> {
  await eventually(
    () => get(`${proxy.origin}/readyz`),
    ({ status }) => status === 200,
  );
}

describe.each<{ mode: Mode }>([{ mode: 'stdio' }, { mode: 'http' }])('a server over $mode', ({ mode }) => {
  test('sleeps after a time without calls, and a call starts it again', async () => {
    const sleeper = await world.start(`twice-${mode}`, mode);
    const { proxy } = sleeper;
    await ready(sleeper);
    const first = textOf(await callTool(proxy, 'whoami', {}, await beginSession(proxy)));
    await sleeper.asleep();
    expect((await get(`${proxy.origin}/readyz`)).status).toBe(200);
    const second = textOf(await callTool(proxy, 'whoami', {}, await beginSession(proxy)));
    expect(sleeper.starts()).toEqual([first, second]);
    expect(await sleeper.declared()).toBe(1);
  });

  test('is started once for 200 calls at the same time', async () => {
    const sleeper = await world.start(`crowd-${mode}`, mode, { pods: 0, afterSeconds: 60 });
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(sleeper.proxy, 'initialize', INITIALIZE)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
    expect(sleeper.starts()).toHaveLength(1);
  });
});

test('a proxy that starts while its server sleeps is ready, and does not start it', async () => {
  const sleeper = await world.start('restarted', 'http', { pods: 0, afterSeconds: 60 });
  await ready(sleeper);
  const { json } = await get(`${sleeper.proxy.origin}/health`);
  expect(json).toMatchObject({ status: 'healthy', mcp: { available: true, asleep: true } });
  expect(await sleeper.declared()).toBe(0);
});

test('what only asks whether somebody is there starts nothing, and keeps nothing awake', async () => {
  const sleeper = await world.start('asked', 'http', { pods: 0, afterSeconds: 60 });
  const ping = await send(sleeper.proxy, 'ping');
  expect([ping.status, ping.json]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const noted = await fetch(sleeper.proxy.url, { method: 'POST', headers, body });
  expect(noted.status).toBe(202);
  expect(await sleeper.declared()).toBe(0);
});

test('sessions end when the server falls asleep: their clients get 404, and a DELETE succeeds', async () => {
  const sleeper = await world.start('sessions', 'stdio');
  await ready(sleeper);
  const session = await beginSession(sleeper.proxy);
  expect(session).toHaveProperty('mcp-session-id');
  await sleeper.asleep();
  const answer = await callTool(sleeper.proxy, 'whoami', {}, session);
  expect([answer.status, answer.json.error.message]).toEqual([404, 'Session not found']);
  const ended = await fetch(sleeper.proxy.url, { method: 'DELETE', headers: session });
  expect(ended.status).toBe(204);
  expect(await sleeper.declared()).toBe(0);
});

test('an open stream keeps the server awake', async () => {
  const sleeper = await world.start('streaming', 'stdio');
  await ready(sleeper);
  const session = await beginSession(sleeper.proxy);
  const leave = new AbortController();
  const stream = await fetch(sleeper.proxy.url, {
    headers: { ...session, accept: 'text/event-stream' },
    signal: leave.signal,
  });
  expect(stream.status).toBe(200);
  // Another server of the same times falls asleep meanwhile.
  const other = await world.start('streaming-other', 'stdio');
  await other.asleep();
  expect(await sleeper.declared()).toBe(1);
  leave.abort();
  await stream.body?.cancel().catch(() => undefined);
  await sleeper.asleep();
});

/** Changes the next requests about the number of pods of this server. */
function disturb(name: string, verb: 'get' | 'patch', action: FaultAction, times: number): void {
  const match = { verb, resource: 'apps/statefulsets', subresource: 'scale', name };
  world.cluster.cluster.faults.add({ match, action, times });
}

test('a client that asked for progress gets it while the server starts, and then the answer', async () => {
  const sleeper = await world.start('progress', 'http', { pods: 0, afterSeconds: 60 });
  disturb('progress', 'get', { status: 503 }, 15);
  const params = { name: 'whoami', arguments: {}, _meta: { progressToken: 7 } };
  const answer = await send(sleeper.proxy, 'tools/call', params);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const messages = [...answer.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
  expect(messages).toEqual([
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 7, progress: -59, message: 'The MCP server was asleep and is starting (1 s)' },
    },
    { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: sleeper.starts()[0] }] } },
  ]);
});

test('a call that comes while the server is being stopped is answered by the next process', async () => {
  const sleeper = await world.start('meanwhile', 'http');
  await ready(sleeper);
  disturb('meanwhile', 'patch', { delayMs: 1500 }, 1);
  const before = textOf(await callTool(sleeper.proxy, 'whoami'));
  const stops = () => world.cluster.cluster.counters().requests.patch?.['statefulsets.apps/scale'] ?? 0;
  const earlier = stops();
  await eventually(
    async () => stops(),
    (count) => count > earlier,
  );
  const answer = await callTool(sleeper.proxy, 'whoami');
  expect([answer.status, textOf(answer)]).toEqual([200, sleeper.starts()[1]]);
  expect(before).toBe(sleeper.starts()[0]);
});

test.each([
  { what: 'carried out', drop: 'after', starts: 2 },
  { what: 'not carried out', drop: 'before', starts: 1 },
] as const)('a stop without an answer of the cluster loses no call: it was $what', async ({ drop, starts }) => {
  const name = `dropped-${drop}`;
  const sleeper = await world.start(name, 'http', { afterSeconds: 2 });
  await ready(sleeper);
  disturb(name, 'patch', { drop }, 1);
  await sleeper.proxy.written('is idle and cannot be stopped');
  expect((await callTool(sleeper.proxy, 'whoami')).status).toBe(200);
  expect(sleeper.starts()).toHaveLength(starts);
});

test('a server that fails at its start gives a clear error within the limit, and is started by a later call', async () => {
  const sleeper = await world.start('broken', 'stdio', { pods: 0, wakeSeconds: 2, afterSeconds: 60 });
  writeFileSync(`${sleeper.file}.broken`, '');
  const answer = await send(sleeper.proxy, 'initialize', INITIALIZE);
  expect([answer.status, answer.json.error.message, answer.headers.get('retry-after')]).toEqual([
    503,
    'The MCP server was asleep and did not start in time. Try again.',
    '10',
  ]);
  await sleeper.proxy.written('container mcp of pod broken-0 does not run');
  rmSync(`${sleeper.file}.broken`);
  await eventually(
    () => send(sleeper.proxy, 'initialize', INITIALIZE),
    ({ status }) => status === 200,
  );
});

test('no server is stopped while its proxy has several pods', async () => {
  const sleeper = await world.start('several', 'http', { proxies: 2 });
  await ready(sleeper);
  await sleeper.proxy.written('2 pods of its proxy exist, and another may serve calls');
  expect(await sleeper.declared()).toBe(1);
});

test('a server that a person scaled to zero is started by the next call too', async () => {
  const sleeper = await world.start('by-hand', 'http', { afterSeconds: 600 });
  await ready(sleeper);
  await sleeper.scale(0);
  await eventually(
    () => get(`${sleeper.proxy.origin}/health`),
    ({ json }) => json.mcp?.asleep === true,
  );
  expect((await callTool(sleeper.proxy, 'whoami')).status).toBe(200);
});
