// Tests when a server is stopped and started, with a clock that the tests move; test/gateway/proxy/sleep.test.ts has
// real processes. In one file, because all tests share this clock and the simulated cluster.

import { expect, test } from 'vitest';
import { Failure } from '#std/failure.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Answer, Backend, BackendFault, Exchange } from '../backend.ts';
import type { BackendClock } from '../ports.ts';
import { createSleepingBackend, type SleepingBackend } from './backend.ts';

interface MovedClock extends BackendClock {
  /** Runs everything that is due until then. */
  pass(ms: number): Promise<void>;
}

function movedClock(): MovedClock {
  let time = 0;
  const timers = new Map<object, { readonly at: number; readonly task: () => void }>();
  return {
    now: () => time,
    monotonic: () => time,
    random: (size) => Buffer.alloc(size),
    after(ms, task) {
      const key = {};
      timers.set(key, { at: time + ms, task });
      return () => void timers.delete(key);
    },
    async pass(ms) {
      const end = time + ms;
      await settle();
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next[0]);
        time = Math.max(time, next[1].at);
        next[1].task();
        await settle();
      }
      time = end;
    },
  };
}

/** Lets everything run that waits for nothing but earlier steps. */
async function settle(): Promise<void> {
  for (let step = 0; step < 50; step += 1) await Promise.resolve();
}

interface Rig {
  readonly clock: MovedClock;
  readonly server: SleepingBackend;
  /** The cluster. `starts` is false if new pods never answer. */
  readonly cluster: {
    declared: number;
    existing: number;
    proxies: number;
    version: string;
    starts: boolean;
    refusal: Failure | undefined;
  };
  readonly set: number[];
  readonly log: string[];
  readonly waited: string[];
  /** Number of reports that the server fell asleep. */
  readonly fellAsleep: () => number;
}

const AFTER_MS = 900_000;
const WAKE_MS = 60_000;

function rigOf(isAsleep = false): Rig {
  const clock = movedClock();
  const cluster: Rig['cluster'] = {
    ...{ declared: isAsleep ? 0 : 1, existing: isAsleep ? 0 : 1, proxies: 1, version: '1', starts: true },
    refusal: undefined,
  };
  const [set, log, waited]: [number[], string[], string[]] = [[], [], []];
  let fallen = 0;
  const backend: Backend = {
    open(_exchange, answer) {
      answer.head(200, { 'content-type': 'application/json' });
      answer.data(Buffer.from('{}'));
      answer.end();
      return { abort: () => undefined, resume: () => undefined };
    },
    eras: () => undefined,
    probe: async () =>
      cluster.starts && cluster.declared > 0 ? { available: true } : { available: false, error: 'it crashes' },
    close: async () => undefined,
  };
  const server = createSleepingBackend(
    {
      open: async () => backend,
      scale: {
        async read() {
          if (cluster.refusal !== undefined) throw cluster.refusal;
          return { declared: cluster.declared, existing: cluster.existing };
        },
        async declare(pods) {
          set.push(pods);
          Object.assign(cluster, { declared: pods, existing: pods });
        },
        countProxies: async () => ({ pods: cluster.proxies, version: cluster.version }),
      },
      clock,
      observer: {
        fellAsleep() {
          fallen += 1;
        },
        woke: () => undefined,
        waited: (ms, outcome) => waited.push(`${outcome} after ${ms}`),
        log: (_level, message) => log.push(message),
      },
      times: { afterMs: AFTER_MS, wakeMs: WAKE_MS },
    },
    isAsleep ? undefined : backend,
  );
  return { clock, server, cluster, set, log, waited, fellAsleep: () => fallen };
}

function exchangeOf(method: string, more: Partial<Exchange> = {}): Exchange {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'a' } }));
  const scanned = scanMessage(body);
  if (!scanned.ok) throw new Error(scanned.fault.message);
  const { message } = scanned;
  return { method: 'POST', era: 'session', path: '/', headers: {}, caller: '', body, message, ...more };
}

interface Called {
  status: number | undefined;
  fault: BackendFault | undefined;
  readonly abort: () => void;
}

function call({ server }: Rig, exchange: Exchange = exchangeOf('tools/call')): Called {
  const called = { status: undefined as number | undefined, fault: undefined as BackendFault | undefined };
  const answer: Answer = {
    head(status) {
      called.status = status;
    },
    data: () => true,
    end: () => undefined,
    fail(fault) {
      called.fault = fault;
    },
  };
  const flow = server.open(exchange, answer);
  return Object.assign(called, { abort: flow.abort });
}

/** The server has answered, so the time without calls begins. */
async function begin(rig: Rig): Promise<void> {
  await rig.server.probe();
}

test('is stopped once the time without calls is over, and not before', async () => {
  const rig = rigOf();
  await begin(rig);
  await rig.clock.pass(600_000);
  call(rig);
  await rig.clock.pass(AFTER_MS - 1);
  expect(rig.set).toEqual([]);
  await rig.clock.pass(5001);
  expect(rig.set).toEqual([0]);
});

test('is not stopped before it has ever answered, so that a failure to start stays visible', async () => {
  const rig = rigOf();
  rig.cluster.starts = false;
  await rig.server.probe();
  await rig.clock.pass(10 * AFTER_MS);
  expect(rig.set).toEqual([]);
});

test('is not stopped by requests that only ask whether it is there', async () => {
  const rig = rigOf();
  await begin(rig);
  for (let minute = 0; minute < 14; minute += 1) {
    await rig.clock.pass(60_000);
    call(rig, exchangeOf('ping'));
  }
  await rig.clock.pass(65_000);
  expect(rig.set).toEqual([0]);
});

test('is reported as asleep if another program has set the number of pods to 0', async () => {
  const rig = rigOf();
  await begin(rig);
  Object.assign(rig.cluster, { declared: 0, existing: 0 });
  expect(await rig.server.probe()).toEqual({ available: true, isAsleep: true });
  expect([rig.fellAsleep(), rig.set]).toEqual([1, []]);
  expect(rig.log).toEqual([expect.stringContaining('its number of pods was set to 0')]);
});

test('is not stopped while a stream of a client is open', async () => {
  const rig = rigOf();
  await begin(rig);
  rig.server.noteStream(1);
  await rig.clock.pass(10 * AFTER_MS);
  expect(rig.set).toEqual([]);
  rig.server.noteStream(-1);
  await rig.clock.pass(AFTER_MS + 5000);
  expect(rig.set).toEqual([0]);
});

test('is not stopped by a proxy whose pods have just changed, and is by a later attempt', async () => {
  const rig = rigOf();
  await begin(rig);
  await rig.clock.pass(AFTER_MS - 10_000);
  rig.cluster.version = '2';
  await rig.clock.pass(10_000);
  expect([rig.set, rig.log]).toEqual([[], [expect.stringContaining('the pods of its proxy have just changed')]]);
  await rig.clock.pass(120_000);
  expect(rig.set).toEqual([0]);
});

test('is not stopped by a proxy that stops itself', async () => {
  const rig = rigOf();
  await begin(rig);
  await rig.clock.pass(AFTER_MS - 10_000);
  rig.server.drain();
  await rig.clock.pass(10 * AFTER_MS);
  expect(rig.set).toEqual([]);
});

test('a new run waits for the end of the last pod, whose connections would end with it', async () => {
  const rig = rigOf(true);
  rig.cluster.existing = 1;
  const called = call(rig);
  await rig.clock.pass(5000);
  expect([rig.set, called.status]).toEqual([[], undefined]);
  rig.cluster.existing = 0;
  await rig.clock.pass(200);
  expect([rig.set, called.status]).toEqual([[1], 200]);
});

test('each call waits for its own time, and the attempt goes on for those that still wait', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  const first = call(rig);
  await rig.clock.pass(WAKE_MS - 1000);
  const second = call(rig);
  await rig.clock.pass(1000);
  expect([first.fault?.reason, first.fault?.detail, second.fault]).toEqual(['not-started', 'it crashes', undefined]);
  rig.cluster.starts = true;
  await rig.clock.pass(1000);
  expect([second.status, rig.set]).toEqual([200, [1]]);
});

test('a server that did not start for a call is stopped again, and the next call tries again', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  call(rig);
  await rig.clock.pass(WAKE_MS);
  expect(rig.waited).toEqual([`not-started after ${WAKE_MS}`]);
  await rig.clock.pass(1000);
  expect(await rig.server.probe()).toEqual({ available: false, error: 'it crashes' });
  await rig.clock.pass(AFTER_MS + 5000);
  expect(rig.set).toEqual([1, 0]);
  rig.cluster.starts = true;
  const called = call(rig);
  await rig.clock.pass(500);
  expect([called.status, rig.set]).toEqual([200, [1, 0, 1]]);
});

test('is not stopped during a start that takes longer than the time without calls', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  for (let minute = 0; minute < 30; minute += 1) {
    call(rig);
    await rig.clock.pass(WAKE_MS - 1);
  }
  expect(rig.set).toEqual([1]);
});

test('a refusal of the cluster ends the calls that wait at once', async () => {
  const rig = rigOf(true);
  rig.cluster.refusal = new Failure('scale-refused', 'the API server answers 403: forbidden');
  const called = call(rig);
  await rig.clock.pass(0);
  expect([called.fault?.reason, called.fault?.detail]).toEqual([
    'not-started',
    'the API server answers 403: forbidden',
  ]);
});

test('a start goes on after its client has left, so that the next call finds the server running', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  const called = call(rig);
  await rig.clock.pass(3000);
  called.abort();
  expect([rig.waited, called.fault]).toEqual([['client-gone after 3000'], undefined]);
  await rig.clock.pass(10_000);
  rig.cluster.starts = true;
  await rig.clock.pass(1000);
  expect([call(rig).status, rig.set]).toEqual([200, [1]]);
});

test('a start without a client ends at the time limit', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  call(rig).abort();
  await rig.clock.pass(WAKE_MS + 1000);
  expect(await rig.server.probe()).toEqual({ available: false, error: 'it crashes' });
});

test('a call that comes while the pods are counted before a stop prevents the stop', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  call(rig);
  await rig.clock.pass(WAKE_MS + 1000);
  // The pods are counted 45 s before the time without calls is over.
  await rig.clock.pass(AFTER_MS - 20_000);
  call(rig);
  await rig.clock.pass(WAKE_MS - 1000);
  expect(rig.set).toEqual([1]);
});

test('a caller that leaves while it waits for several exchanges is forgotten at once', async () => {
  const rig = rigOf(true);
  rig.cluster.starts = false;
  let settled = 0;
  const leave = rig.server.wake(() => {
    settled += 1;
  });
  await rig.clock.pass(2000);
  leave();
  expect(rig.waited).toEqual(['client-gone after 2000']);
  rig.cluster.starts = true;
  await rig.clock.pass(1000);
  expect([rig.server.isAwake(), settled]).toEqual([true, 0]);
  rig.server.wake(() => {
    settled += 1;
  });
  rig.server.wake(() => {
    settled += 1;
  })();
  await rig.clock.pass(0);
  expect(settled).toBe(1);
});
