// Counts requests and tokens of the service, and serves the metrics on a separate listener for operators, without a
// token.

import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { Failure } from '#std/failure.ts';
import { createMetrics, METRICS_CONTENT_TYPE, type Metrics } from '#std/telemetry/metrics.ts';
import { addProcessMetrics, type ProcessUsage } from '#std/telemetry/process-metrics.ts';
import type { CatalogueReader } from '../catalogue/ports.ts';
import { handleError, handleNotFound } from './errors.ts';
import { route } from './route.ts';

export interface ServiceMetrics {
  /** `route` is the pattern of the route, so that clients cannot invent labels. */
  answered(method: string, route: string | undefined, status: number, seconds: number): void;
  /**
   * `outcome` is `accepted` or the code of the rejection. `provider` is the provider that accepted the token, or empty.
   */
  token(outcome: string, provider: string): void;
  /** Sets the metrics of the sources. `states` is undefined if the database did not respond. */
  sources(states: Awaited<ReturnType<CatalogueReader['states']>> | undefined): void;
  process(usage: ProcessUsage): void;
  readonly families: Metrics['families'];
  text(): string;
}

type Served = Pick<RegistryConfig['registries'][number], 'name' | 'intervalMs'>;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `registries` are the configured registries. A registry without an interval gets no metric of its interval. */
export function createServiceMetrics(version: string, registries: readonly Served[]): ServiceMetrics {
  const metrics = createMetrics();
  metrics.gauge('skep_build_info', 'Release of this program.', ['version']).set([version], 1);
  const requests = metrics.counter('skep_http_requests_total', 'Responses to requests.', ['method', 'route', 'status']);
  const seconds = metrics.histogram('skep_http_request_seconds', 'Time to the response.', ['route'], SECONDS);
  const tokens = metrics.counter('skep_tokens_total', 'Tokens checked, and requests that needed one.', [
    'outcome',
    'provider',
  ]);
  const database = metrics.gauge('skep_database_up', 'Whether the database responded for this scrape.', []);
  const servers = metrics.gauge('skep_registry_servers', 'Entries that the last sync stored.', ['registry']);
  const rejected = metrics.gauge('skep_registry_rejected', 'Entries that it left out as invalid.', ['registry']);
  const failed = metrics.gauge('skep_registry_failed_attempts', 'Attempts since the last success.', ['registry']);
  const synced = metrics.gauge('skep_registry_synced_timestamp_seconds', 'When content was last stored.', ['registry']);
  const attempted = metrics.gauge('skep_registry_attempted_timestamp_seconds', 'When it was last checked.', [
    'registry',
  ]);
  const interval = metrics.gauge('skep_registry_interval_seconds', 'How often it is to be checked.', ['registry']);
  for (const { name, intervalMs } of registries) if (intervalMs !== undefined) interval.set([name], intervalMs / 1000);
  const process = addProcessMetrics(metrics);
  return {
    answered(method, pattern = 'none', status, elapsed) {
      requests.add([method, pattern, String(status)]);
      seconds.observe([pattern], elapsed);
    },
    token: (outcome, provider) => tokens.add([outcome, provider]),
    sources(states) {
      database.set([], states === undefined ? 0 : 1);
      for (const gauge of [servers, rejected, failed, synced, attempted]) gauge.clear();
      for (const [name, state] of Object.entries(states ?? {})) {
        servers.set([name], state.serverCount);
        rejected.set([name], state.rejectedCount);
        failed.set([name], state.attemptCount);
        if (state.lastSyncTime !== undefined) synced.set([name], Date.parse(state.lastSyncTime) / 1000);
        if (state.lastAttempt !== undefined) attempted.set([name], Date.parse(state.lastAttempt) / 1000);
      }
    },
    process,
    families: metrics.families,
    text: metrics.text,
  };
}

export interface MetricsAppOptions {
  readonly metrics: ServiceMetrics;
  readonly config: Pick<RegistryConfig, 'namespace' | 'registryName'>;
  readonly catalogue: CatalogueReader;
  readonly usage: () => ProcessUsage;
  readonly logger: FastifyBaseLogger;
}

/** Serves only GET /metrics. The caller opens the listener and closes the application. */
export function buildMetricsApp({ metrics, config, catalogue, usage, logger }: MetricsAppOptions): FastifyInstance {
  const app = Fastify({ loggerInstance: logger, logController: new LogController({ disableRequestLogging: true }) });
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(handleNotFound);
  route(app, '/metrics', async (_request, reply) => {
    metrics.sources(await statesOrNone());
    metrics.process(usage());
    return reply.header('cache-control', 'no-store').type(METRICS_CONTENT_TYPE).send(metrics.text());
  });

  /** Returns undefined if the database is down: the other metrics are then especially important. */
  async function statesOrNone() {
    try {
      return await catalogue.states({ namespace: config.namespace, registry: config.registryName });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      logger.warn({ code: error.code, reason: error.message }, 'no state of the registries for the metrics');
      return undefined;
    }
  }
  return app;
}
