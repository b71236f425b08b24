// Holds the state of a server that sleeps, and decides when it has been idle for long enough.

import type { Backend, Era } from '../backend.ts';
import type { SleepParts } from './ports.ts';

type Phase =
  | { readonly name: 'awake'; readonly backend: Backend }
  /** The number of pods is being set to 0. `settled` resolves at the end, and never rejects. */
  | { readonly name: 'falling'; readonly settled: Promise<void> }
  | { readonly name: 'asleep' }
  /** The server did not start while calls waited. `reason` is for the operator. */
  | { readonly name: 'failed'; readonly reason: string };

export interface SleepState {
  readonly parts: SleepParts;
  phase: Phase;
  /** Calls in flight and open streams. */
  inUse: number;
  /** Monotonic time of the last beginning or end of a call or stream. */
  usedAt: number;
  /** Protocol eras (with sessions, stateless) that the server spoke in its last run. undefined if unknown. */
  eras: ReadonlySet<Era> | undefined;
  /** True if the server has answered this proxy, or was asleep when this proxy started. */
  answered: boolean;
  /** True once the proxy stops. This proxy then no longer stops the server, because the next proxy decides. */
  stopped: boolean;
  /** Last reported reason why the idle server was not stopped. The same reason is not reported again. */
  reported: string | undefined;
  stopTimer: () => void;
}

export function noteUse(state: SleepState, change: 1 | -1): void {
  state.inUse += change;
  state.usedAt = state.parts.clock.monotonic();
}

/**
 * Returns the milliseconds until the server has been idle for long enough, or 0 or less if it already has. undefined if
 * the server is in use.
 */
export function idleLeft({ parts, inUse, usedAt }: SleepState): number | undefined {
  return inUse > 0 ? undefined : usedAt + parts.times.afterMs - parts.clock.monotonic();
}

export function pause({ parts }: Pick<SleepState, 'parts'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    parts.clock.after(ms, resolve);
  });
}
