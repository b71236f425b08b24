// Defines metrics of this process from the operating system, by their usual names.

import type { Metrics } from './metrics.ts';

export interface ProcessUsage {
  /** When the process began, in seconds since 1970. */
  readonly startedAtSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  /** The 99th percentile since the last reading. */
  readonly eventLoopSeconds: number;
}

/** Adds the metrics. The returned function is called with the usage before each scrape. */
export function addProcessMetrics(metrics: Metrics): (usage: ProcessUsage) => void {
  const started = metrics.gauge('process_start_time_seconds', 'Time when the process started.', []);
  const resident = metrics.gauge('process_resident_memory_bytes', 'Resident memory.', []);
  const heap = metrics.gauge('nodejs_heap_size_used_bytes', 'Used heap.', []);
  const cpu = metrics.counter('process_cpu_seconds_total', 'User and system CPU time.', []);
  const loop = metrics.gauge('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last scrape.', []);
  let cpuSeconds = 0;
  return (usage) => {
    started.set([], usage.startedAtSeconds);
    resident.set([], usage.residentBytes);
    heap.set([], usage.heapBytes);
    loop.set([], usage.eventLoopSeconds);
    cpu.add([], usage.cpuSeconds - cpuSeconds);
    cpuSeconds = usage.cpuSeconds;
  };
}
