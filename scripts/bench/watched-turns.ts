// How long the event loop of this process stood still: answers every message with the longest stretches since the last one.

import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Between two turns of the event loop. */
export interface Longest {
  /** That passed, also while others had the processor. */
  readonly delayMs: number;
  /** The 99th percentile. */
  readonly p99Ms: number;
  /** That the thread worked, whatever else the machine does. */
  readonly workMs: number;
}

export function answerWithTurns(): void {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  let before = process.threadCpuUsage();
  let workMs = 0;
  setInterval(() => {
    const now = process.threadCpuUsage();
    workMs = Math.max(workMs, (now.user + now.system - before.user - before.system) / 1000);
    before = now;
  }, 5).unref();
  process.on('message', () => {
    const longest: Longest = { delayMs: delays.max / 1e6, p99Ms: delays.percentile(99) / 1e6, workMs };
    process.send?.(longest);
    delays.reset();
    workMs = 0;
  });
}
