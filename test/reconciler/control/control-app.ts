// The reconciler's own listener with nothing behind it: what a test does not give does nothing.

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { buildControl, type ControlOptions } from '#reconciler/control/app.ts';
import { createRunMetrics } from '#reconciler/control/metrics.ts';

export const healthy = { stuck: () => undefined, unready: () => [] };

export function controlApp(options: Partial<ControlOptions>): FastifyInstance {
  return buildControl({
    logger: pino({ level: 'silent' }),
    newRequestId: () => 'r1',
    random: randomBytes,
    monotonic: () => performance.now(),
    vitals: healthy,
    metrics: {
      metrics: createRunMetrics({ version: '1.2.3', monotonic: () => 0, sources: ['fleet'], interval: () => 30 }),
      usage: () => ({ startedAtSeconds: 1, residentBytes: 1, heapBytes: 1, cpuSeconds: 1, eventLoopSeconds: 0 }),
    },
    hooks: { sources: [], now: () => 0, monotonic: () => 0, counted: () => undefined },
    trigger: () => true,
    runs: { list: async () => '', find: async () => '' },
    fleet: {
      state: () => ({ text: '{}', tag: '' }),
      resource: async () => undefined,
      logs: async () => undefined,
      readings: async () => undefined,
      follow: () => () => undefined,
    },
    ...options,
  });
}
