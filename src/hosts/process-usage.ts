// Asks the operating system what this process uses.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessUsage } from '#std/telemetry/process-metrics.ts';
import { systemClock } from './clock.ts';

/**
 * How often the event loop is woken to see how late that happens. Each time costs an idle process about 60 us, and a fleet has a
 * process before every server: at the ten milliseconds that Node.js takes by itself it is most of what they use.
 */
const LOOKED_AT_EVERY_MS = 100;

export interface UsageWatch {
  usage(): ProcessUsage;
  stop(): void;
}

/** The delay of the event loop is watched from here on. */
export function watchUsage(): UsageWatch {
  const startedAtSeconds = systemClock.now() / 1000 - process.uptime();
  const delay = monitorEventLoopDelay({ resolution: LOOKED_AT_EVERY_MS });
  delay.enable();
  return {
    usage() {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      // It is the time from one look to the next.
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
