// Tests the failures that prevent a connection to a process, and the code of each failure.

import { afterEach, expect, test } from 'vitest';
import type { Exchange } from '#gateway/backends/backend.ts';
import type { OpenStreams } from '#gateway/backends/ports.ts';
import type { SessionHandlers } from '#gateway/backends/sessions/link.ts';
import { MAX_LINE_BYTES, openLine } from '#gateway/backends/stdio/line.ts';
import { createPool } from '#gateway/backends/stdio/pool.ts';
import { createSharedLines, type SharedLines, type SharedLinesParts } from '#gateway/backends/stdio/shared-lines.ts';
import { Failure } from '#std/failure.ts';
import { clock, countingObserver, FIXTURE, openProgram, quickClock, sessionProgram } from './world.ts';

const open: SharedLines[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((lines) => lines.close()));
});

const handlers: SessionHandlers = { message: () => undefined, closed: () => undefined, drain: () => undefined };
const exchange: Exchange = { method: 'POST', era: 'session', path: '/mcp', headers: {}, caller: 'someone' };

function lineParts(openStreams: OpenStreams) {
  return { openStreams, observer: countingObserver(), clock, maxLineBytes: MAX_LINE_BYTES };
}

function start(openStreams: OpenStreams, more: Partial<SharedLinesParts> = {}): SharedLines {
  const parts = lineParts(openStreams);
  const lines = createSharedLines({
    ...{ clock, observer: parts.observer, replica: 'r1', clientInfo: { name: 'skep', version: '1' } },
    open: (each) => openLine(parts, 0, each),
    ...more,
  });
  open.push(lines);
  return lines;
}

const program = (code: string): OpenStreams => openProgram('--eval', [code]);

test('a process that ends at once is reported, and after repeated ends it is started later', async () => {
  const lines = start(program('process.exit(1)'), { clock: quickClock });
  const codes: string[] = [];
  let failure: unknown;
  while (codes.at(-1) !== 'stdio-restarting') {
    failure = await lines.open('session', exchange, handlers).catch((error: unknown) => error);
    codes.push(failure instanceof Failure ? failure.code : String(failure));
  }
  expect(new Set(codes.slice(0, -1))).toEqual(new Set(['stdio-ended']));
  const seconds = failure instanceof Failure ? failure.data.retryAfterSeconds : undefined;
  expect(seconds).toBeGreaterThan(2);
});

test('a process that sends nothing is reported as silent', async () => {
  const lines = start(program('process.stdin.resume()'), { discoverMs: 50, initializeMs: 50 });
  await expect(lines.open('session', exchange, handlers)).rejects.toMatchObject({ code: 'stdio-silent' });
});

test('the reason of a process that refuses initialize is passed on', async () => {
  const refusing = `
    process.stdin.on('data', (chunk) => {
      for (const line of chunk.toString().trim().split('\\n')) {
        const { id } = JSON.parse(line);
        console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'no licence' } }));
      }
    })`;
  await expect(start(program(refusing)).open('session', exchange, handlers)).rejects.toMatchObject({
    code: 'stdio-refused',
    message: 'the MCP server refuses initialize: no licence',
  });
});

test('a process of the other era is not supported', async () => {
  const modern = start(openProgram(FIXTURE, ['modern']));
  await expect(modern.open('session', exchange, handlers)).rejects.toMatchObject({
    code: 'stdio-era',
    data: { reason: 'not-supported' },
  });
});

test('a pool without a free process is reported as busy', async () => {
  const { observer, maxLineBytes } = lineParts(openProgram(FIXTURE, ['mcp']));
  const parts = { observer, maxLineBytes, clock: quickClock, processes: sessionProgram(FIXTURE, ['mcp']) };
  const pool = createPool(parts, 1);
  const line = await pool.take(handlers);
  await expect(pool.take(handlers)).rejects.toMatchObject({
    code: 'stdio-busy',
    data: { reason: 'busy', retryAfterSeconds: 5 },
  });
  await line.close();
});

test('a backend that shuts down opens no more processes', async () => {
  const lines = start(openProgram(FIXTURE, ['mcp']));
  await lines.close();
  await expect(lines.open('session', exchange, handlers)).rejects.toMatchObject({ code: 'stdio-closed' });
});

test('a start that waits ends at once if the backend shuts down', async () => {
  const lines = start(program('process.exit(1)'));
  for (let at = 0; at < 2; at += 1) {
    await expect(lines.open('session', exchange, handlers)).rejects.toMatchObject({ code: 'stdio-ended' });
  }
  const waiting = expect(lines.open('session', exchange, handlers)).rejects.toMatchObject({ code: 'stdio-closed' });
  await lines.close();
  await waiting;
});
