// Runs a task soon after a request. Runs never overlap, and a minimum time passes between their starts.

import type { ProxyClock } from '#gateway/proxy/ports.ts';

export interface SpacedTask {
  /** Requests a run that starts after this call. */
  request(): void;
  /** Prevents further runs. Resolves when the current run has ended. */
  stop(): Promise<void>;
}

export interface SpacedTaskOptions {
  readonly clock: Pick<ProxyClock, 'after' | 'monotonic'>;
  /** Milliseconds between a request and its run. Requests during this time share a run. */
  readonly soonMs: number;
  /** Minimum milliseconds between the starts of two runs. */
  readonly betweenMs: number;
  /** Returns true if the task must run again. */
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
