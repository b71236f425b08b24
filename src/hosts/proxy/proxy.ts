// Starts `skep proxy`: opens one MCP server behind the gate, as the proxy's configuration says.

import type { Logger } from 'pino';
import { createOutbound } from '#adapters/http/outbound.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import type { Relay } from '#gateway/backends/relay/relay.ts';
import type { Credential } from '#gateway/credentials/credential.ts';
import { watchHealth } from '#gateway/proxy/health.ts';
import { listenHttp } from '#gateway/proxy/listener.ts';
import { createHandle, type Handle } from '#gateway/proxy/proxy.ts';
import { frontOf, limitsOf, MCP_PATH, timesOf } from '#gateway/proxy/settings.ts';
import { createSseFront, type SseFront } from '#gateway/proxy/sse/front.ts';
import { relaySseFront } from '#gateway/proxy/sse/relay.ts';
import { createTaskIds } from '#gateway/proxy/tasks/task-ids.ts';
import type { Environment } from '#std/environment.ts';
import { egressFrom } from '../egress.ts';
import { openRateLimits } from '../rate-limits.ts';
import { VERSION } from '../version.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { openBackend } from './backend.ts';
import { proxyClock } from './clock.ts';
import { openProxyIssuer } from './issuer.ts';
import { readSessionKeys, watchSeal } from './keys.ts';
import { readNowAndThen } from './lock-reading.ts';
import { openLockReporter } from './lock-report.ts';
import { openRecorder, reportBroken, reportReadiness } from './record.ts';
import { sessionRedis } from './relay.ts';
import { watchConfig } from './reload.ts';
import { openRules } from './rules.ts';
import { createSettings } from './settings.ts';
import { countUnderWay, stopProxy } from './stop.ts';
import { listenMetrics, openProxyMetrics, openProxyTelemetry } from './telemetry.ts';
import { openProxyLock, type ProxyLock, type ProxyLockOptions } from './tools-lock.ts';
import { openWebhooks } from './webhooks.ts';

export interface ProxyOptions {
  readonly config: RunConfig;
  /** Returns the current configuration. If not set, the configuration never changes. */
  readonly readConfig?: () => RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  /** Writes audit lines. If not set, the lines are written to standard output. */
  readonly writeAudit?: (line: string) => void;
}

export interface RunningProxy {
  /** URL of the server for clients. */
  readonly url: string;
  /** URL of the separate listener for metrics; undefined if no separate listener is configured. */
  readonly metricsUrl: string | undefined;
  /** Reports not ready, ends streams, waits for requests in flight, and then closes all connections. */
  stop(): Promise<void>;
}

/** Resolves when the proxy listens. If a part cannot be opened, closes the other parts and throws a Failure. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { config, logger } = options;
  const closing: (() => unknown)[] = [];
  try {
    return await openParts(options, closing);
  } catch (error) {
    for (const close of closing.reverse()) await close();
    logger.debug({ server: config.name }, 'proxy not started');
    throw error;
  }
}

async function openParts(options: ProxyOptions, closing: (() => unknown)[]): Promise<RunningProxy> {
  const { config } = options;
  const logger = options.logger.child({});
  const { fixed, rules, metrics, lock, ...rest } = await openFixed({ ...options, logger }, closing);
  const settings = createSettings({ ...options, ...rest, fixed, logger });
  let inForce: RunConfig | undefined;
  let credential: Credential | undefined;
  let handle: Handle;

  function use(next: RunConfig): void {
    const parts = next === inForce ? undefined : settings(next);
    if (!rules.replace(next) || parts === undefined) return;
    const debug = next.debug === true || options.environment.TOOLHIVE_DEBUG === 'true';
    logger.level = debug ? 'debug' : options.logger.level;
    handle = createHandle(parts);
    credential = parts.credential;
    if (inForce !== undefined) logger.info('changed settings are in force');
    inForce = next;
  }

  use(config);
  const { readConfig: read = () => config } = options;
  closing.push(watchConfig({ config, read, use, logger, clock: proxyClock }));
  const { backend, sleeping, health, times } = fixed;
  const { messageBytes } = limitsOf(config);
  const readable = { backend: sleeping === undefined ? backend : { ...backend, open: sleeping.openAside } };
  const readings = { ...readable, isAwake: sleeping?.isAwake, keeper: lock.current, credential: () => credential };
  closing.push(readNowAndThen({ ...readings, messageBytes }));
  const aside = await listenMetrics(config, health, metrics.text, logger);
  closing.push(() => aside?.destroy());
  const listener = await listenHttp(config, (request, response) => handle(request, response), reportBroken(logger));
  closing.push(() => listener.destroy());
  const { name: server, namespace, transport } = config;
  logger.info({ server, namespace, transport, url: listener.url, metrics: aside?.url }, 'proxy serves');
  return {
    url: `${listener.url}/mcp`,
    metricsUrl: aside?.url,
    stop() {
      sleeping?.drain();
      return stopProxy({ health, listener, underWay: rest.underWay, times, closing });
    },
  };
}

/**
 * Maximum number of connections to each webhook; further requests wait. Token endpoints have their own connections,
 * because slow webhooks must not delay requests for tokens.
 */
const WEBHOOK_CONNECTIONS = 64;

function openOutbounds(closing: (() => unknown)[]) {
  const options = { allowPrivate: [], egress: egressFrom(process.env), version: VERSION };
  const outbound = createOutbound(options);
  const toWebhooks = createOutbound({ ...options, connections: WEBHOOK_CONNECTIONS });
  closing.push(() => Promise.all([outbound.close(), toWebhooks.close()]));
  return { outbound, toWebhooks };
}

function openReportedLock(
  parts: Omit<ProxyLockOptions, 'changed'> & Pick<ProxyOptions, 'environment'>,
  closing: (() => unknown)[],
): ProxyLock {
  const reporter = openLockReporter(parts);
  closing.push(reporter.stop);
  return openProxyLock({ ...parts, changed: reporter.changed });
}

/**
 * Opens the parts that stay unchanged when the configuration changes: the server and its sessions, keys, metrics,
 * telemetry.
 */
async function openFixed(options: ProxyOptions, closing: (() => unknown)[]) {
  const { config, environment, files, logger } = options;
  const [times, limits] = [timesOf(config), limitsOf(config)];
  const { outbound, toWebhooks } = openOutbounds(closing);
  const sessionKeys = readSessionKeys(config, files);
  const seal = watchSeal(config, files, sessionKeys);
  const { proxy, ...metrics } = openProxyMetrics(config);
  closing.push(metrics.stop);
  const recorder = openRecorder({ metrics: proxy, logger, writeAudit: options.writeAudit });
  closing.push(recorder.close);
  const lock = openReportedLock({ environment, logger, metrics: proxy, recorder }, closing);
  const rules = openRules(config, { files, logger, tasks: createTaskIds(seal, proxyClock.now), lock });
  const issuer = await openProxyIssuer(options, outbound, proxy.metrics);
  closing.push(() => issuer?.close());
  const telemetry = await openProxyTelemetry({
    ...{ config, environment, files, logger, read: metrics.read },
    serviceVersion: undefined,
  });
  closing.push(() => telemetry?.close());
  const backendOptions = { config, environment, files, logger, seal, sessionKeys, limits, times, metrics: proxy };
  const { backend, relay, sleeping, close } = await openBackend(backendOptions);
  closing.push(() => close(0));
  const redis = config.scaling_config?.session_redis;
  const rateLimits = await openRateLimits(
    {
      redis: redis && sessionRedis(redis, options),
      logger,
      metrics: proxy.metrics,
      ...{ server: config.name, namespace: config.namespace },
    },
    config.rate_limiting,
  );
  closing.push(rateLimits.close);
  const facts = { transport: config.transport, version: { version: VERSION } };
  const health = watchHealth(backend, facts, proxyClock, reportReadiness(logger));
  closing.push(health.stop);
  const underWay = countUnderWay();
  const { untilStopped } = underWay;
  function active(change: 1 | -1, kind: 'request' | 'stream'): void {
    if (kind === 'stream') {
      proxy.streams(change);
      sleeping?.noteStream(change);
    } else {
      proxy.active(change);
      underWay.count(change);
    }
  }
  return {
    fixed: {
      ...{ backend, sleeping, rules, seal, health, times, endpoint: MCP_PATH, active, untilStopped },
      beginSpan: telemetry?.beginSpan,
      serveIssuer: issuer?.serve,
    },
    metricsText: config.telemetry_config?.enable_prometheus_metrics_path === true ? metrics.text : undefined,
    sse: frontOf(config) === 'sse' ? openSse(backend, relay, limits.messageBytes) : undefined,
    webhooks: openWebhooks({ outbound: toWebhooks, files, logger, metrics: proxy.metrics }),
    ...{ rules, metrics, outbound, recorder, underWay, issuer, rateLimits, lock },
  };
}

function openSse(backend: Backend, relay: Relay | undefined, messageBytes: number) {
  const ownHeaders = { accept: 'application/json, text/event-stream' };
  const front: SseFront = createSseFront({ backend, messageBytes, ownHeaders });
  return {
    front: relay === undefined ? front : relaySseFront(front, relay, messageBytes),
    replica: relay?.replica ?? 'local',
  };
}
