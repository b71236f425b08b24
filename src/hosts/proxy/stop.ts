// Stops a proxy in this order: it reports not ready, streams end, calls in flight finish, all connections close. Until
// the end it responds to requests, because Kubernetes still sends requests for a moment after the signal.

import type { Health } from '#gateway/proxy/health.ts';
import type { Listener } from '#gateway/proxy/listener.ts';
import { proxyClock } from './clock.ts';

/** Tracks the requests and streams in flight. */
export interface UnderWay {
  readonly count: (change: 1 | -1) => void;
  /** Calls `task` when the proxy stops, unless the returned function is called before. */
  readonly untilStopped: (task: () => void) => () => void;
  readonly endStreams: () => void;
  /** Resolves when no request is in flight. */
  readonly idle: () => Promise<void>;
}

export function countUnderWay(): UnderWay {
  const streams = new Set<() => void>();
  let waiting: (() => void) | undefined;
  let requests = 0;
  return {
    count(change) {
      requests += change;
      if (requests === 0) waiting?.();
    },
    untilStopped(task) {
      streams.add(task);
      return () => void streams.delete(task);
    },
    endStreams() {
      for (const end of [...streams]) end();
      streams.clear();
    },
    idle: () =>
      new Promise((resolve) => {
        waiting = resolve;
        if (requests === 0) resolve();
      }),
  };
}

export interface Stopping {
  readonly health: Health;
  readonly listener: Listener;
  readonly underWay: UnderWay;
  readonly times: { readonly shutdownMs: number };
  /** Functions that close the parts, called in reverse order. */
  readonly closing: readonly (() => unknown)[];
}

/** Interval at which idle connections are closed. */
const LOOK_MS = 20;

export async function stopProxy({ health, listener, underWay, times, closing }: Stopping): Promise<void> {
  health.drain();
  underWay.endStreams();
  const late = new Promise<void>((resolve) => proxyClock.after(times.shutdownMs, resolve));
  await Promise.race([underWay.idle(), late]);
  const drained = listener.drain();
  const stopLooking = proxyClock.every(LOOK_MS, () => void listener.drain());
  await Promise.race([drained, late]);
  stopLooking();
  listener.destroy();
  for (const each of [...closing].reverse()) await each();
}
