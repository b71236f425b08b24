// Reads from the operating system the resources that this process uses.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessUsage } from '#std/telemetry/process-metrics.ts';
import { systemClock } from './clock.ts';

/**
 * Interval at which the event loop is woken to measure its delay. Each measurement costs an idle process about 60 us,
 * and a fleet has a process in front of every server: at the default of Node.js (ten milliseconds), measurements are
 * most of the work of these processes.
 */
const LOOKED_AT_EVERY_MS = 100;

export interface UsageWatch {
  usage(): ProcessUsage;
  stop(): void;
}

/** Starts to watch the delay of the event loop. */
export function watchUsage(): UsageWatch {
  const startedAtSeconds = systemClock.now() / 1000 - process.uptime();
  const delay = monitorEventLoopDelay({ resolution: LOOKED_AT_EVERY_MS });
  delay.enable();
  return {
    usage() {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      // The measured value is the time between two measurements, so the interval is subtracted.
      const between = delay.count === 0 ? 0 : delay.percentile(99) / 1e6;
      const eventLoopSeconds = Math.max(0, between - LOOKED_AT_EVERY_MS) / 1000;
      delay.reset();
      return {
        startedAtSeconds,
        residentBytes: rss,
        heapBytes: heapUsed,
        cpuSeconds: (user + system) / 1e6,
        eventLoopSeconds,
      };
    },
    stop: () => void delay.disable(),
  };
}
