// Counts how often a server that sleeps is started, and how long calls wait for it.

import type { Metrics } from '#std/telemetry/metrics.ts';
import type { SleepObserver } from '../../backends/sleep/ports.ts';

/** Upper bounds in seconds: pods start within seconds, and images are pulled within minutes. */
const SECONDS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600];

export function addSleepMetrics(
  metrics: Metrics,
  server: string,
  isAsleep: boolean,
): Pick<SleepObserver, 'fellAsleep' | 'woke' | 'waited'> {
  const asleep = metrics.gauge('skep_proxy_asleep', 'Whether the MCP server is stopped until the next call.', [
    'server',
  ]);
  const starts = metrics.histogram(
    'skep_proxy_start_seconds',
    'Time from the first call that needs a sleeping MCP server until the server runs, in seconds.',
    ['server'],
    SECONDS,
  );
  const waits = metrics.histogram(
    'skep_proxy_start_wait_seconds',
    'Time that a call waited for the start of a sleeping MCP server, in seconds, by the end of the wait.',
    ['server', 'outcome'],
    SECONDS,
  );
  asleep.set([server], isAsleep ? 1 : 0);
  return {
    fellAsleep: () => asleep.set([server], 1),
    woke(ms) {
      asleep.set([server], 0);
      starts.at([server]).observe(ms / 1000);
    },
    waited: (ms, outcome) => waits.at([server, outcome]).observe(ms / 1000),
  };
}
