// Tests servers whose process ends at the first message of 2026-07-28: which era the backend uses, and when it tries
// the newer era again.

import { afterEach, describe, expect, test } from 'vitest';
import type { Backend } from '#gateway/backends/backend.ts';
import type { OpenStreams, Processes } from '#gateway/backends/ports.ts';
import { createPerSessionStdio } from '#gateway/backends/stdio/per-session.ts';
import { createSharedStdio } from '#gateway/backends/stdio/shared.ts';
import { call, openSession, request, toolCall } from './caller.ts';
import { clock, countingObserver, FIXTURE, openProgram, processEnded, quickClock, sessionProgram } from './world.ts';

const opened: Backend[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((backend) => backend.close(0)));
});

const clientInfo = { name: 'skep', version: '1' };

/** Returns a backend that starts the programs in order. After the last program, it starts this program again. */
function startShared(...programs: readonly OpenStreams[]) {
  const runs = { count: 0 };
  const observer = countingObserver();
  const backend = createSharedStdio({
    ...{ clock: quickClock, observer, replica: 'r1', clientInfo },
    openStreams(index, handlers) {
      const program = programs[Math.min(runs.count, programs.length - 1)];
      runs.count += 1;
      return program === undefined ? Promise.reject(new Error('no program')) : program(index, handlers);
    },
  });
  opened.push(backend);
  return { backend, runs, observer };
}

function startPerSession(processes: Processes, time = clock): Backend {
  const observer = countingObserver();
  const backend = createPerSessionStdio({ processes, pods: 1, clock: time, observer, replica: 'r1', clientInfo });
  opened.push(backend);
  return backend;
}

function callStateless(backend: Backend) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return call(backend, request('tools/call', { name: 'echo', arguments: {}, _meta }, 1), { era: 'stateless' }).end();
}

const strict = openProgram(FIXTURE, ['strict']);
const modern = openProgram(FIXTURE, ['modern']);
const ending = openProgram('--eval', ['process.stdin.once("data", () => process.exit(1))']);

describe('a shared process that ends at server/discover', () => {
  test('is started again with initialize, and later starts use initialize at once', async () => {
    const { backend, runs } = startShared(strict);
    const session = await openSession(backend);
    expect(await session.tool('echo', { a: 1 })).toBe('{"a":1}');
    expect(runs.count).toBe(2);
    const pid = Number(await session.tool('pid'));
    await session.call(toolCall('exit')).end();
    await processEnded(pid);
    expect(await (await openSession(backend)).tool('echo', {})).toBe('{}');
    expect(runs.count).toBe(3);
  });

  test('refuses requests without a session, which reveals its era', async () => {
    const { backend } = startShared(strict);
    expect((await callStateless(backend)).fault?.reason).toBe('not-supported');
    expect(backend.eras()).toEqual(new Set(['session']));
  });

  test('gets server/discover again if it also ended at initialize', async () => {
    const { backend, runs, observer } = startShared(ending, ending, modern);
    expect((await callStateless(backend)).fault).toMatchObject({
      reason: 'unreachable',
      detail: expect.stringContaining('ended during the handshake'),
    });
    expect((await callStateless(backend)).json().result.content[0].text).toBe('{}');
    expect(runs.count).toBe(3);
    expect(
      observer.lines.filter((line) => line.includes('its handshake begins with initialize from now on')),
    ).toHaveLength(1);
  });

  test('gets server/discover again if it refuses initialize', async () => {
    const { backend } = startShared(ending, modern);
    expect((await callStateless(backend)).fault?.reason).toBe('unreachable');
    expect((await callStateless(backend)).json().result.content[0].text).toBe('{}');
    expect(backend.eras()).toEqual(new Set(['stateless']));
  });
});

describe('processes for one session each that end at server/discover', () => {
  test('refuse requests without a session, and serve sessions', async () => {
    const backend = startPerSession(sessionProgram(FIXTURE, ['strict']));
    expect((await callStateless(backend)).fault?.reason).toBe('not-supported');
    expect(backend.eras()).toEqual(new Set(['session']));
    expect(await (await openSession(backend)).tool('echo', {})).toBe('{}');
  });

  test('serve sessions even if they end only after the timeout of server/discover', async () => {
    const first = sessionProgram('--eval', ['process.stdin.resume()']);
    const later = sessionProgram(FIXTURE, ['strict']);
    let runs = 0;
    const open: Processes['open'] = async (index, handlers) => {
      runs += 1;
      const instance = `run ${runs}`;
      return { ...(await (runs === 1 ? first : later).open(index, handlers)), instance };
    };
    const backend = startPerSession({ open, check: later.check }, quickClock);
    expect((await callStateless(backend)).fault?.reason).toBe('not-supported');
    expect(await (await openSession(backend)).tool('echo', {})).toBe('{}');
    expect(runs).toBe(2);
  });

  test('have no known era if they also end at initialize', async () => {
    const backend = startPerSession(sessionProgram('--eval', ['process.stdin.once("data", () => process.exit(1))']));
    expect((await callStateless(backend)).fault?.reason).toBe('not-supported');
    const initialize = await call(backend, request('initialize', {})).end();
    expect(initialize.fault?.detail).toContain('the process ended with 1');
    expect(backend.eras()).toBeUndefined();
  });
});
