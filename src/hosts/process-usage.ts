// Measures the resources that this process uses.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessUsage } from '#std/telemetry/process-metrics.ts';
import { systemClock } from './clock.ts';

/**
 * Interval of measurements of the event loop's delay. Each measurement costs an idle process about 60 us, and a fleet
 * has a proxy process for every server. At Node.js's default of 10 ms, measurements would be most of the work of these
 * processes.
 */
const LOOKED_AT_EVERY_MS = 100;

export interface UsageWatch {
  usage(): ProcessUsage;
  stop(): void;
}

/** Starts to measure the delay of the event loop. */
export function watchUsage(): UsageWatch {
  const startedAtSeconds = systemClock.now() / 1000 - process.uptime();
  const delay = monitorEventLoopDelay({ resolution: LOOKED_AT_EVERY_MS });
  delay.enable();
  return {
    usage() {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      // A measured value is the time between two measurements. The delay is this time without the interval.
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
