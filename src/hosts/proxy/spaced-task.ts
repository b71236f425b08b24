// Runs a task soon after a request, one run after the other, with time between two runs even if requests are frequent.

import type { ProxyClock } from '#gateway/proxy/ports.ts';

export interface SpacedTask {
  /** Runs the task once more after this moment. */
  request(): void;
  /** Starts no further run; resolves when the current run has ended. */
  stop(): Promise<void>;
}

export interface SpacedTaskOptions {
  readonly clock: Pick<ProxyClock, 'after' | 'monotonic'>;
  /** Requests that come within this time share a run. */
  readonly soonMs: number;
  /** Least time from the start of one run to the start of the next. */
  readonly betweenMs: number;
  /** Runs the task. Resolves to true if it has to run again. */
  readonly run: () => Promise<boolean>;
}

export function createSpacedTask({ clock, soonMs, betweenMs, run }: SpacedTaskOptions): SpacedTask {
  let begunAt = Number.NEGATIVE_INFINITY;
  let stopTimer: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;

  async function runOnce(): Promise<void> {
    if (isStopped) return;
    begunAt = clock.monotonic();
    if (await run()) request();
  }

  function request(): void {
    if (stopTimer !== undefined || isStopped) return;
    stopTimer = clock.after(Math.max(soonMs, begunAt + betweenMs - clock.monotonic()), () => {
      stopTimer = undefined;
      running = running.then(runOnce);
    });
  }

  return {
    request,
    async stop() {
      isStopped = true;
      stopTimer?.();
      await running;
    },
  };
}
