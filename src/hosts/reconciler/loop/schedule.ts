// Runs a task on a cron schedule and on request, never twice at once, and again shortly while it reports that something
// is in progress.

import { readCron } from './cron.ts';

export interface ScheduleOptions {
  /** Cron expression with seconds. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly jitterSeconds: number;
  /**
   * Pauses before the repetitions of a task that reports something in progress. After the last one, the schedule
   * applies.
   */
  readonly followUpsMs: readonly number[];
}

/** The reason for a run. */
export type Reason = 'start' | 'schedule' | 'follow-up' | 'source' | 'watch' | 'webhook' | 'request';

export interface Scheduled {
  /**
   * Requests a run that begins after this moment: at once, or right after the current one. Several requests share one
   * run. Returns false if a run was requested before and has not begun.
   */
  trigger(reason: Reason): boolean;
  /** Resolves when the running task has ended; no further task starts. */
  stop(): Promise<void>;
}

export interface ScheduleDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number between 0 and 1. */
  readonly random: () => number;
  /** Reports at intervals that the loop is alive while it waits. */
  readonly beat?: () => void;
  /** Reports whether a requested run has not begun yet. */
  readonly queued?: (waiting: boolean) => void;
}

/** Longest single sleep, because the wall clock may be set while it sleeps. */
const NAP_MS = 30_000;

/**
 * Starts at once, then on schedule. `task` must not throw; it returns whether something is still in progress. Throws
 * Failure `config-invalid` if the schedule is not a cron expression.
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
      // The wall clock was set back: the due times are computed again.
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

  // A bug in a task ends the process with a stack trace, and its supervisor starts the process again.
  const running = loop();
  return {
    trigger(reason) {
      // A requested run also serves a change that would wake the loop.
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
