// Asks the operating system what this process uses.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProcessUsage } from '../std/telemetry/process-metrics.ts';
import { systemClock } from './clock.ts';

export interface UsageWatch {
  usage(): ProcessUsage;
  stop(): void;
}

/** The delay of the event loop is watched from here on. */
export function watchUsage(): UsageWatch {
  const startedAtSeconds = systemClock.now() / 1000 - process.uptime();
  const delay = monitorEventLoopDelay();
  delay.enable();
  return {
    usage() {
      const { rss, heapUsed } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const eventLoopSeconds = delay.count === 0 ? 0 : delay.percentile(99) / 1e9;
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
