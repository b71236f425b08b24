// Starts a server that sleeps: one start for all calls that wait for it.

import { Failure } from '#std/failure.ts';
import type { Backend, BackendFault } from '../backend.ts';
import { watchIdle } from './fall-asleep.ts';
import { noteUse, pause, type SleepState } from './state.ts';

/** Receives the end of a wait: a fault if the server has not started in time. */
export type Settle = (fault: BackendFault | undefined) => void;

/** A call that waits. */
interface Waiter {
  readonly since: number;
  readonly settle: Settle;
  readonly stopTimer: () => void;
}

export interface Waker {
  /**
   * Calls `settle` once, when the server runs or has not started in time. The returned function ends the wait without a
   * call of `settle`.
   */
  wait(settle: Settle): () => void;
  /** Ends all waits with a fault. */
  close(): void;
}

interface WakeState {
  readonly state: SleepState;
  readonly waiters: Set<Waiter>;
  isStarting: boolean;
  /** Monotonic time at which the current start began. */
  began: number;
  /** Whether the current start cannot succeed. */
  isRefused: boolean;
  /** Reason why the server does not run yet, for the operator. */
  reason: string;
}

const LOOK_MS = 100;
const SLOW_LOOK_MS = 500;
/** Time after which the server is checked less often. */
const SLOW_AFTER_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

export function createWaker(state: SleepState): Waker {
  const wake: WakeState = { state, waiters: new Set(), isStarting: false, began: 0, isRefused: false, reason: '' };
  const { clock, times } = state.parts;
  return {
    wait(settle) {
      const late = () => endWait(wake, waiter, 'not-started', notStarted(wake.reason));
      const waiter: Waiter = { since: clock.monotonic(), settle, stopTimer: clock.after(times.wakeMs, late) };
      wake.waiters.add(waiter);
      if (!wake.isStarting) void startForWaiters(wake);
      return () => endWait(wake, waiter, 'client-gone');
    },
    close: () => endWaits(wake, { reason: 'unreachable', message: 'the proxy is shutting down', retryAfterSeconds: 1 }),
  };
}

function endWait(
  { state, waiters }: WakeState,
  waiter: Waiter,
  outcome: 'started' | 'not-started' | 'client-gone',
  fault?: BackendFault,
): void {
  if (!waiters.delete(waiter)) return;
  waiter.stopTimer();
  state.parts.observer.waited(state.parts.clock.monotonic() - waiter.since, outcome);
  if (outcome !== 'client-gone') waiter.settle(fault);
}

function endWaits(wake: WakeState, fault: BackendFault | undefined): void {
  const outcome = fault === undefined ? 'started' : 'not-started';
  for (const waiter of [...wake.waiters]) endWait(wake, waiter, outcome, fault);
}

/**
 * Returns whether the start goes on: while calls wait, and without them until the time limit, so that the next call of a
 * client that has given up finds the server running.
 */
function goesOn({ state, waiters, began, isRefused }: WakeState): boolean {
  const { clock, times } = state.parts;
  return waiters.size > 0 || (!state.stopped && !isRefused && clock.monotonic() - began < times.wakeMs);
}

/** Tries to start the server. */
async function startForWaiters(wake: WakeState): Promise<void> {
  const { state } = wake;
  const { clock, observer } = state.parts;
  Object.assign(wake, { isStarting: true, isRefused: false, began: clock.monotonic() });
  // A server that is being started must not be stopped meanwhile.
  noteUse(state, 1);
  state.stopTimer();
  wake.reason = 'it was not checked yet';
  observer.log('info', 'the MCP server is started for a call');
  let backend: Backend | undefined;
  while (backend === undefined && goesOn(wake)) backend = await tryToStart(wake);
  wake.isStarting = false;
  if (backend === undefined) {
    state.phase = { name: 'failed', reason: wake.reason };
    observer.log('warn', `the MCP server was not started: ${wake.reason}`);
  } else {
    state.phase = { name: 'awake', backend };
    const ms = clock.monotonic() - wake.began;
    observer.woke(ms);
    observer.log('info', `the MCP server runs after ${Math.round(ms)} ms`);
  }
  if (backend !== undefined) endWaits(wake, undefined);
  noteUse(state, -1);
  // After a failed start too, because a server that starts later would run without ever being used.
  watchIdle(state);
}

/** Returns the running server; undefined if the start does not go on. */
async function tryToStart(wake: WakeState): Promise<Backend | undefined> {
  const { state } = wake;
  const { clock, open, check } = state.parts;
  let backend: Backend | undefined;
  try {
    await declareStarted(wake);
    backend = await open();
    while (goesOn(wake)) {
      const reason = (await checkFailed(check)) ?? (await whyUnavailable(backend));
      if (reason === undefined) return backend;
      wake.reason = reason;
      await pause(state, clock.monotonic() - wake.began > SLOW_AFTER_MS ? SLOW_LOOK_MS : LOOK_MS);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    wake.reason = error.message;
    wake.isRefused = true;
    endWaits(wake, notStarted(error.message));
  }
  await backend?.close(0);
  return undefined;
}

async function checkFailed(check: (() => Promise<void>) | undefined): Promise<string | undefined> {
  try {
    await check?.();
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  }
}

async function whyUnavailable(backend: Backend): Promise<string | undefined> {
  const { available, error = 'it does not answer' } = await backend.probe();
  return available ? undefined : error;
}

/**
 * Declares one pod, unless pods are declared already. First waits for the end of the pod of the earlier run, because
 * calls that the old pod accepts would be cut off. Rejects with a Failure if another attempt would not help.
 */
async function declareStarted(wake: WakeState): Promise<void> {
  const { scale } = wake.state.parts;
  while (goesOn(wake)) {
    try {
      const { declared, existing } = await scale.read();
      if (declared > 0) return;
      if (existing === 0) return await scale.declare(1);
      wake.reason = 'its last pod has not ended yet';
    } catch (error) {
      if (!(error instanceof Failure) || !error.retryable) throw error;
      wake.reason = error.message;
    }
    await pause(wake.state, LOOK_MS);
  }
}

function notStarted(detail: string): BackendFault {
  return {
    reason: 'not-started',
    message: 'The MCP server was asleep and did not start in time. Try again.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    detail,
  };
}
