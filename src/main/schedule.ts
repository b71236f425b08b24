// Runs a task on a cron schedule, never twice at once, and again shortly while it says that something is under way.

import { CronJob } from 'cron';
import { Failure } from '../std/failure.ts';

export interface ScheduleOptions {
  /** Cron expression with seconds. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly jitterSeconds: number;
  /** How soon a task that says that something is under way is run again: one pause after the other, then no more. */
  readonly followUpsMs: readonly number[];
}

export interface Scheduled {
  /** Resolves when the running task is done; no further one starts. */
  stop(): Promise<void>;
}

export interface ScheduleDeps {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Between 0 and 1. */
  readonly random: () => number;
}

/**
 * Starts at once, then on schedule. `task` must not throw; it answers whether something is still under way.
 * Throws Failure `config-invalid` where the schedule is no cron expression.
 */
export function startSchedule(deps: ScheduleDeps, options: ScheduleOptions, task: () => Promise<boolean>): Scheduled {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | undefined;

  function tick(jitterMs: number): Promise<void> {
    running ??= cycle(jitterMs).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function cycle(jitterMs: number): Promise<void> {
    for (const pauseMs of [jitterMs, ...options.followUpsMs]) {
      await deps.sleep(pauseMs, signal);
      if (signal.aborted || !(await task())) return;
    }
  }

  const job = cronJob(options, () => tick(deps.random() * options.jitterSeconds * 1000));
  void tick(0);
  return {
    async stop() {
      stopping.abort();
      await job.stop();
      await running;
    },
  };
}

function cronJob({ schedule, timeZone }: ScheduleOptions, onTick: () => Promise<void>): CronJob {
  try {
    return CronJob.from({
      cronTime: schedule,
      timeZone,
      start: true,
      waitForCompletion: true,
      threshold: LATE_MS,
      onTick,
      // A bug: the process dies with its stack, and whoever runs it starts it anew.
      errorHandler: (error) => queueMicrotask(() => throwing(error)),
    });
  } catch (cause) {
    const message = `schedule "${schedule}" in time zone "${timeZone}" is no cron schedule`;
    throw new Failure('config-invalid', message, { cause });
  }
}

function throwing(error: unknown): never {
  throw error;
}

/** A tick that comes later than this (a busy machine) is skipped; the next one makes up for it. */
const LATE_MS = 10_000;
