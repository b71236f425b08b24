// Publishes the metrics of a proxy for Prometheus, and sends its telemetry over OTLP.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { trustedRoots } from '#adapters/http/trust.ts';
import { environmentSpanAttributes, resourceAttributes } from '#adapters/telemetry/settings.ts';
import type { Telemetry } from '#adapters/telemetry/telemetry.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import { headerValue } from '#gateway/credentials/header-rules.ts';
import { createSecret } from '#gateway/credentials/secret.ts';
import type { Health } from '#gateway/proxy/health.ts';
import { type Listener, listenHttp } from '#gateway/proxy/listener.ts';
import { createProxyMetrics, OTLP_NAMES, type ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { answerPlain, plainRoutes } from '#gateway/proxy/plain-answers.ts';
import { methodFacts } from '#gateway/wire/methods.ts';
import { eraOfRevision } from '#gateway/wire/revisions.ts';
import { collectorUrl } from '#std/address/address.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import type { MetricReading } from '#std/telemetry/metrics.ts';
import { addProcessMetrics } from '#std/telemetry/process-metrics.ts';
import { watchUsage } from '../process-usage.ts';
import { VERSION } from '../version.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';
import { reportBroken } from './record.ts';

export interface OpenMetrics {
  readonly proxy: ProxyMetrics;
  /** Returns the metrics in the text format of Prometheus, including metrics of the process. */
  text(): string;
  read(): readonly MetricReading[];
  stop(): void;
}

export function openProxyMetrics({ name, transport }: Pick<RunConfig, 'name' | 'transport'>): OpenMetrics {
  const proxy = createProxyMetrics({
    version: VERSION,
    server: name,
    transport,
    isKnownMethod: (method) => methodFacts(method) !== undefined,
    isKnownRevision: (revision) => eraOfRevision(revision) !== undefined,
  });
  const watch = watchUsage();
  const tellUsage = addProcessMetrics(proxy.metrics);
  return {
    proxy,
    text() {
      tellUsage(watch.usage());
      return proxy.metrics.text();
    },
    read() {
      tellUsage(watch.usage());
      return proxy.metrics.read();
    },
    stop: watch.stop,
  };
}

/** Opens the separate listener for /metrics, /health and /readyz. Returns undefined if none is configured. */
export async function listenMetrics(
  { metrics: place }: RunConfig,
  health: Health,
  metricsText: () => string,
  logger: Logger,
): Promise<Listener | undefined> {
  if (place === undefined) return undefined;
  const routes = plainRoutes({ health, metricsText });
  function handle(request: IncomingMessage, response: ServerResponse): void {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (answerPlain(routes, path, request.method, response)) return;
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('there is nothing here\n');
  }
  return listenHttp(place, handle, reportBroken(logger));
}

const METRIC_INTERVAL_MS = 60_000;

export interface ProxyTelemetryOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  readonly read: OpenMetrics['read'];
  /** Value of `service.version`. If not set, the version of skep is sent. */
  readonly serviceVersion: string | undefined;
}

/**
 * Returns undefined without loading OpenTelemetry if no telemetry is to be sent. Throws Failure `proxy-config-invalid`,
 * `outbound-ca-invalid`, or `credential-secret-...` for a header.
 */
export async function openProxyTelemetry(options: ProxyTelemetryOptions): Promise<Telemetry | undefined> {
  const { config, environment, logger, read, serviceVersion = VERSION } = options;
  const { telemetry_config: telemetry, namespace } = config;
  if (telemetry === undefined) return undefined;
  const { tracing_enabled: tracing, metrics_enabled: metrics, endpoint } = telemetry;
  const isEnabled = tracing || metrics;
  if (isEnabled !== (endpoint !== undefined)) {
    const missing = isEnabled ? 'no endpoint is configured' : 'neither traces nor metrics are enabled';
    logger.warn({ code: 'telemetry-incomplete' }, `no telemetry is sent: ${missing}`);
  }
  if (endpoint === undefined || !isEnabled) return undefined;
  const url = collectorUrl(endpoint, telemetry.insecure);
  if (url === undefined) {
    throw new Failure('proxy-config-invalid', `/telemetry_config/endpoint ${endpoint} is neither a URL nor host:port`);
  }
  const attributes = environmentSpanAttributes(telemetry.environment_variables ?? [], environment);
  const interval = Number(environment.OTEL_METRIC_EXPORT_INTERVAL) || METRIC_INTERVAL_MS;
  const { openTelemetry } = await import('#adapters/telemetry/telemetry.ts');
  return openTelemetry({
    collector: { url, headers: collectorHeaders(options, telemetry), roots: rootsOf(telemetry) },
    version: VERSION,
    resource: resourceAttributes(
      {
        serviceName: telemetry.service_name,
        serviceNamespace: namespace,
        serviceVersion,
        custom: telemetry.custom_attributes ?? {},
      },
      environment,
    ),
    traces: tracing ? { samplingRate: Number(telemetry.sampling_rate), attributes } : undefined,
    metrics: metrics ? { read, names: OTLP_NAMES, intervalMs: Math.max(interval, 1) } : undefined,
    clock: proxyClock,
    notify: ({ code, message }) => logger.warn({ code }, message),
  });
}

type TelemetryBlock = NonNullable<RunConfig['telemetry_config']>;

function rootsOf({ ca_cert_path: caFile }: TelemetryBlock): readonly string[] | undefined {
  return caFile === undefined ? undefined : trustedRoots({ caFile });
}

/**
 * Returns a function that returns the headers, and reads secret values again when their files change. Secret values
 * take precedence over plain values.
 */
function collectorHeaders(
  { environment, files, logger }: ProxyTelemetryOptions,
  block: TelemetryBlock,
): () => Readonly<Record<string, string>> {
  const ports = {
    environment,
    secretFiles: files,
    notify: ({ message, ...notice }: { readonly message: string }) => logger.warn(notice, message),
  };
  const pointer = '/telemetry_config';
  const secrets = [
    ...Object.entries(block.headers_from_file ?? {}).map(([name, file]) => ({ name, source: { pointer, file } })),
    ...Object.entries(block.headers_from_variable ?? {}).map(([name, variable]) => {
      return { name, source: { pointer, variable } };
    }),
  ].map(({ name, source }) => ({ name, read: createSecret(ports, source, headerValue) }));
  return () => ({ ...block.headers, ...Object.fromEntries(secrets.map(({ name, read }) => [name, read()])) });
}
