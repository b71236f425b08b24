// Holds the state of a server that sleeps, and decides when it has been idle for long enough.

import type { Backend, Era } from '../backend.ts';
import type { SleepParts } from './ports.ts';

type Phase =
  | { readonly name: 'awake'; readonly backend: Backend }
  /** The number of pods is being set to 0. `settled` resolves at the end, and never rejects. */
  | { readonly name: 'falling'; readonly settled: Promise<void> }
  | { readonly name: 'asleep' }
  /** The server was told to start, and did not answer while calls waited. `reason`: for the operator. */
  | { readonly name: 'failed'; readonly reason: string };

export interface SleepState {
  readonly parts: SleepParts;
  phase: Phase;
  /** Calls in flight and open streams. */
  inUse: number;
  /** Monotonic time of the last beginning or end of a call or stream. */
  usedAt: number;
  /** The eras of the last run of the server. */
  eras: ReadonlySet<Era> | undefined;
  /** Whether this proxy knows that the server has run and answered. */
  answered: boolean;
  /** True once the proxy stops: it does not stop the server any more, because the next proxy decides. */
  stopped: boolean;
  /** Reason why the idle server was not stopped, which is reported once. */
  reported: string | undefined;
  stopTimer: () => void;
}

export function noteUse(state: SleepState, change: 1 | -1): void {
  state.inUse += change;
  state.usedAt = state.parts.clock.monotonic();
}

/** Returns the time until the server may be stopped; not above 0 if it may be stopped now. Undefined if clients use it. */
export function idleLeft({ parts, inUse, usedAt }: SleepState): number | undefined {
  return inUse > 0 ? undefined : usedAt + parts.times.afterMs - parts.clock.monotonic();
}

export function pause({ parts }: Pick<SleepState, 'parts'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    parts.clock.after(ms, resolve);
  });
}
