// Runs a task on a cron schedule and on request. Runs never overlap. While the task reports work in progress, it runs
// again after short pauses.

import { readCron } from './cron.ts';

export interface ScheduleOptions {
  /** Cron expression of five fields, or of six fields with seconds first. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly jitterSeconds: number;
  /**
   * Milliseconds before each follow-up run of a task that reports work in progress. After the last follow-up, only the
   * schedule applies.
   */
  readonly followUpsMs: readonly number[];
}

/** Reason for a run. */
export type Reason = 'start' | 'schedule' | 'follow-up' | 'source' | 'watch' | 'webhook' | 'request';

export interface Scheduled {
  /**
   * Requests a run that begins now, or right after the current run. Several requests share one run. Returns false if a
   * waiting request already covers this request.
   */
  trigger(reason: Reason): boolean;
  /** Starts no further run, and resolves when the current run has ended. */
  stop(): Promise<void>;
}

export interface ScheduleDeps {
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a random number between 0 and 1. */
  readonly random: () => number;
  /** Called repeatedly while the loop waits, as a sign that it is alive. */
  readonly beat?: () => void;
  /** Called with true when a run is requested, and with false when it begins. */
  readonly queued?: (waiting: boolean) => void;
}

/** Maximum duration of a sleep, because the wall clock may be set during a sleep. */
const NAP_MS = 30_000;

/**
 * Runs the task at once, and then on schedule. `task` returns true while work is in progress, and must not throw.
 * Throws Failure `config-invalid` if the schedule is not a cron expression.
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
      // The wall clock was set back, so the next times are computed again.
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

  // A bug in the task ends the process with a stack trace. The process's supervisor starts it again.
  const running = loop();
  return {
    trigger(reason) {
      // Other reasons replace a waiting 'watch'. In all other cases the waiting request already covers this request.
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
