// Serves /metrics without a token, because scrapers have none. The metrics contain names of sources and commits, and no
// secrets.

import type { FastifyInstance } from 'fastify';
import { METRICS_CONTENT_TYPE } from '#std/telemetry/metrics.ts';
import type { ProcessUsage } from '#std/telemetry/process-metrics.ts';
import type { RunMetrics } from '../metrics.ts';
import { addRoute } from '../route.ts';

export interface MetricsSubject {
  readonly metrics: Pick<RunMetrics, 'process' | 'text'>;
  readonly usage: () => ProcessUsage;
}

export function addMetricsRoute(app: FastifyInstance, { metrics, usage }: MetricsSubject): void {
  addRoute(app, {
    method: 'GET',
    url: '/metrics',
    public: true,
    handler(_request, reply) {
      metrics.process(usage());
      return reply.header('cache-control', 'no-store').type(METRICS_CONTENT_TYPE).send(metrics.text());
    },
  });
}
