// Defines metrics about this process under their usual Prometheus names.

import type { Metrics } from './metrics.ts';

export interface ProcessUsage {
  /** Start time of the process, in seconds since 1970. */
  readonly startedAtSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  /** 99th percentile of the event loop's delay since the last reading. */
  readonly eventLoopSeconds: number;
}

/** Adds the metrics. The returned function must be called before each scrape. */
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
