// Runs a task on a cron schedule and when it is asked to, never twice at once, and again shortly while it says that
// something is under way.

import { readCron } from './cron.ts';

export interface ScheduleOptions {
  /** Cron expression with seconds. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly jitterSeconds: number;
  /** How soon a task that says that something is under way is run again: one pause after the other, then no more. */
  readonly followUpsMs: readonly number[];
}

/** Why a run begins. */
export type Reason = 'start' | 'schedule' | 'follow-up' | 'source' | 'watch' | 'webhook' | 'request';

export interface Scheduled {
  /**
   * Asks for a run that begins after this moment: at once, or right after the one under way. However many ask, it is
   * one. False: it was asked for already, and has not begun.
   */
  trigger(reason: Reason): boolean;
  /** Resolves when the running task is done; no further one starts. */
  stop(): Promise<void>;
}

export interface ScheduleDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Called now and then, for the loop is alive while it waits. */
  readonly beat?: () => void;
  /** Called with whether a run is asked for that has not begun. */
  readonly queued?: (waiting: boolean) => void;
}

/** Longer than this it does not sleep in one go: the wall clock may be set meanwhile. */
const NAP_MS = 30_000;

/**
 * Starts at once, then on schedule. `task` must not throw; it answers whether something is still under way.
 * Throws Failure `config-invalid` where the schedule is no cron expression.
 */
export function startSchedule(
  deps: ScheduleDeps,
  { schedule, timeZone, jitterSeconds, followUpsMs }: ScheduleOptions,
  task: (reason: Reason) => Promise<boolean>,
): Scheduled {
  const cron = readCron(schedule, timeZone);
  let stopped = false;
  let asked: Reason | undefined;
  let nap = new AbortController();

  async function loop(): Promise<void> {
    let reason: Reason = 'start';
    let followUps = 0;
    while (!stopped) {
      const underWay = await task(reason);
      if (reason !== 'follow-up') followUps = 0;
      const pauseMs = underWay ? followUpsMs[followUps] : undefined;
      followUps += 1;
      reason = await nextReason(pauseMs);
    }
  }

  async function nextReason(pauseMs = Number.POSITIVE_INFINITY): Promise<Reason> {
    const since = deps.now();
    const followUpAt = since + pauseMs;
    const tickAt = cron.next(since) + deps.random() * jitterSeconds * 1000;
    for (;;) {
      const now = deps.now();
      if (stopped) return 'schedule';
      if (asked !== undefined) return takeAsked(asked);
      if (now >= tickAt) return 'schedule';
      if (now >= followUpAt) return 'follow-up';
      // The wall clock was set back: what was due then is another time now.
      if (now < since) return nextReason(pauseMs);
      deps.beat?.();
      await deps.sleep(Math.min(tickAt - now, followUpAt - now, NAP_MS), nap.signal);
      if (nap.signal.aborted) nap = new AbortController();
    }
  }

  function takeAsked(reason: Reason): Reason {
    asked = undefined;
    deps.queued?.(false);
    return reason;
  }

  // A bug in a task ends the process with its stack: whoever runs it starts it anew.
  const running = loop();
  return {
    trigger(reason) {
      // A run that a change would wake as well is the run of those who ask for it.
      if (asked !== undefined && (asked !== 'watch' || reason === 'watch')) return false;
      if (asked === undefined) deps.queued?.(true);
      asked = reason;
      nap.abort();
      return true;
    },
    async stop() {
      stopped = true;
      nap.abort();
      await running;
    },
  };
}
