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
  /** The 99th percentile. */
  readonly workP99Ms: number;
}

export function answerWithTurns(): void {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  let before = process.threadCpuUsage();
  let works: number[] = [];
  setInterval(() => {
    const now = process.threadCpuUsage();
    works.push((now.user + now.system - before.user - before.system) / 1000);
    before = now;
  }, 5).unref();
  process.on('message', () => {
    const sorted = works.toSorted((a, b) => a - b);
    const longest: Longest = {
      delayMs: delays.max / 1e6,
      p99Ms: delays.percentile(99) / 1e6,
      workMs: sorted.at(-1) ?? 0,
      workP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    };
    process.send?.(longest);
    delays.reset();
    works = [];
  });
}
