// Stops a server that no client has used for a while, if no other pod of the proxy could pass calls to the server.

import { Failure } from '#std/failure.ts';
import { idleLeft, pause, type SleepState } from './state.ts';

/**
 * Time for which the pods of the proxy must not have changed. Longer than the 35 s that a proxy has to end. An ending
 * proxy may still serve calls, although its Deployment no longer counts it.
 */
const SETTLED_MS = 45_000;
/** Time until the next attempt, if the server cannot be stopped. */
const AGAIN_MS = 60_000;
/** Time between two checks of a server that is in use. */
const IN_USE_MS = 5000;

/** Begins to watch for idleness. The watch ends when the server falls asleep, or at the stop of the proxy. */
export function watchIdle(state: SleepState): void {
  state.stopTimer();
  if (state.stopped) return;
  const { clock, times } = state.parts;
  const left = idleLeft(state);
  const settle = Math.min(SETTLED_MS, times.afterMs);
  const wait = left === undefined ? Math.min(IN_USE_MS, times.afterMs) : Math.max(0, left - settle);
  state.stopTimer = clock.after(wait, () => {
    const now = idleLeft(state);
    if (now === undefined || now > settle) watchIdle(state);
    else void tryToFall(state, now);
  });
}

async function tryToFall(state: SleepState, left: number): Promise<void> {
  const { clock, observer } = state.parts;
  const { usedAt } = state;
  let reason: string | undefined;
  try {
    const before = await state.parts.scale.countProxies();
    await pause(state, Math.max(left, 0));
    if (state.stopped || usedAt !== state.usedAt || state.inUse > 0) return watchIdle(state);
    reason = whyAnotherServes(before, await state.parts.scale.countProxies());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reason = error.message;
  }
  // Calls may have come while the pods were counted.
  if (state.stopped || usedAt !== state.usedAt || state.inUse > 0) return watchIdle(state);
  if (reason === undefined && (await fall(state))) return;
  if (reason !== undefined && reason !== state.reported)
    observer.log('warn', `the MCP server is idle and is not stopped: ${reason}`);
  state.reported = reason;
  state.stopTimer = clock.after(Math.min(AGAIN_MS, state.parts.times.afterMs), () => watchIdle(state));
}

function whyAnotherServes(
  before: { readonly pods: number; readonly version: string },
  after: { readonly pods: number; readonly version: string },
): string | undefined {
  if (after.pods !== 1) return `${after.pods} pods of its proxy exist, and another may serve calls`;
  return before.version === after.version ? undefined : 'the pods of its proxy have just changed';
}

/** Stops the server. Returns true if it was stopped. Calls that arrive meanwhile wait for the end of this function. */
async function fall(state: SleepState): Promise<boolean> {
  const { phase, parts } = state;
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  state.phase = { name: 'falling', settled };
  const isStopped = await stopServer(state);
  if (isStopped) {
    state.phase = { name: 'asleep' };
    parts.observer.fellAsleep();
    parts.observer.log('info', 'the MCP server sleeps: no client used it. The next call starts it');
    state.reported = undefined;
    if (phase.name === 'awake') void phase.backend.close(0);
  } else state.phase = phase;
  resolve();
  return isStopped;
}

/**
 * Returns true if the server was stopped, or may have been stopped because the cluster did not answer. The next call
 * then shows whether the server runs.
 */
async function stopServer({ parts: { scale, observer } }: SleepState): Promise<boolean> {
  try {
    await scale.declare(0);
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    observer.log('warn', `the MCP server is idle and cannot be stopped: ${error.message}`);
    // A request without an answer may have been carried out.
    return error.retryable && (await scale.read().catch(() => ({ declared: 0 }))).declared === 0;
  }
}
