// `skep proxy`: one MCP server behind the gate. Wires what the configuration asks for.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { createOutbound, type Outbound } from '../../adapters/http/outbound.ts';
import { createAuthenticate } from '../../auth/providers.ts';
import { explain } from '../../auth/rejection.ts';
import type { ResourceSettings } from '../../auth/settings.ts';
import type { Backend } from '../../backends/backend.ts';
import type { Relay } from '../../backends/relay/relay.ts';
import { type RunConfig, SECRET_ENV } from '../../contracts/run-config.ts';
import type { Credential } from '../../credentials/credential.ts';
import { credentialOf } from '../../credentials/of-config.ts';
import type { SessionSeal } from '../../mcp/seal.ts';
import type { Callers } from '../../proxy/callers.ts';
import { cleanPrefix } from '../../proxy/forwarded.ts';
import { watchHealth } from '../../proxy/health.ts';
import { rewriteAnswer } from '../../proxy/list-answer.ts';
import { listenHttp } from '../../proxy/listener.ts';
import { createHandle } from '../../proxy/proxy.ts';
import type { Rules } from '../../proxy/rules.ts';
import {
  frontOf,
  limitsOf,
  resourceOf,
  type ServiceLimits,
  type ServiceTimes,
  targetOf,
  timesOf,
} from '../../proxy/settings.ts';
import { createSseFront } from '../../proxy/sse/front.ts';
import { relaySseFront } from '../../proxy/sse/relay.ts';
import type { SseRoutes } from '../../proxy/sse/routes.ts';
import type { Environment } from '../../std/environment.ts';
import { Failure } from '../../std/failure.ts';
import { VERSION } from '../version.ts';
import { openBackend } from './proxy-backend.ts';
import { proxyClock } from './proxy-clock.ts';
import { openDoorway, openLimits } from './proxy-gate.ts';
import { readSessionKeys, watchSeal } from './proxy-keys.ts';
import { openRecorder } from './proxy-record.ts';
import { watchRules } from './proxy-rules.ts';
import { countUnderWay, stopProxy, type UnderWay } from './proxy-stop.ts';
import { listenMetrics, openProxyMetrics, openProxyTelemetry } from './proxy-telemetry.ts';
import type { WatchedFiles } from './watched-files.ts';

export interface ProxyOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  /** Takes the lines of the audit. Absent: standard output. */
  readonly writeAudit?: (line: string) => void;
}

export interface RunningProxy {
  /** Where clients reach the server. */
  readonly url: string;
  /** Of the listener of metrics alone; undefined where there is none. */
  readonly metricsUrl: string | undefined;
  /** Not ready, then no new connections; what is in flight gets its time to end, then streams are ended. */
  stop(): Promise<void>;
}

/** Listens when it returns. Throws a Failure where the configuration cannot be used; nothing stays open then. */
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
  const { config, environment, files, logger } = options;
  const times = timesOf(config);
  const limits = limitsOf(config);
  const outbound = createOutbound({ allowPrivate: [], version: VERSION });
  closing.push(() => outbound.close());
  const sessionKeys = readSessionKeys(config, files);
  const seal = watchSeal(config, files, sessionKeys);
  const resource = resourceOf(config, environment[SECRET_ENV.oidcClientSecret]);
  const rules = watchRules({ config, files, logger, clock: proxyClock });
  closing.push(rules.stop);
  const { proxy: metrics, ...numbers } = openProxyMetrics(config);
  closing.push(numbers.stop);
  const telemetry = await openProxyTelemetry(config, environment, logger, numbers.read);
  closing.push(() => telemetry?.close());
  const recorder = openRecorder({ config, metrics, logger, writeAudit: options.writeAudit });
  closing.push(recorder.close);
  const backendOptions = { config, environment, files, logger, seal, sessionKeys, limits, times, metrics };
  const { backend, relay, close } = await openBackend(backendOptions);
  closing.push(() => close(0));
  const health = watchHealth(backend, { transport: config.transport, version: { version: VERSION } }, proxyClock);
  closing.push(health.stop);
  const underWay = countUnderWay();
  const handle = createHandle({
    backend,
    doorway: openDoorway(config, resource),
    callers: resource === undefined ? undefined : openCallers(resource, outbound, logger),
    enter: openLimits(limits, proxyClock),
    rules: rules.current,
    seal,
    credential: openCredential(options, outbound),
    plain: { health, resource, metricsText: servesMetrics(config) ? numbers.text : undefined },
    health,
    limits,
    times,
    trustForwarded: config.trust_proxy_headers,
    sse:
      frontOf(config) === 'sse'
        ? openSse(backend, relay, { rules: rules.current, seal, config, limits, times, underWay })
        : undefined,
    endpoint: targetOf(config).kind === 'http' && config.remote_url === undefined ? undefined : '/mcp',
    clock: proxyClock,
    newRequestId: randomUUID,
    beginSpan: telemetry?.beginSpan,
    record: recorder.record,
    active(change, kind) {
      if (kind === 'stream') return metrics.streams(change);
      metrics.active(change);
      underWay.count(change);
    },
    untilStopped: underWay.untilStopped,
  });
  const aside = await listenMetrics(config, health, numbers.text);
  closing.push(() => aside?.destroy());
  const listener = await listenHttp(config, handle);
  closing.push(() => listener.destroy());
  const { name: server, namespace, transport } = config;
  logger.info({ server, namespace, transport, url: listener.url, metrics: aside?.url }, 'proxy serves');
  return {
    url: `${listener.url}/mcp`,
    metricsUrl: aside?.url,
    stop: () => stopProxy({ health, listener, underWay, times, closing }),
  };
}

function openCredential({ config, environment, files, logger }: ProxyOptions, outbound: Outbound): Credential {
  return credentialOf(config, {
    fetch: outbound.request,
    clock: proxyClock,
    environment,
    secretFiles: files,
    notify: ({ message, ...notice }) => logger.warn(notice, message),
  });
}

interface SseParts {
  readonly rules: () => Rules;
  readonly seal: SessionSeal;
  readonly config: RunConfig;
  readonly limits: ServiceLimits;
  readonly times: ServiceTimes;
  readonly underWay: UnderWay;
}

function openSse(backend: Backend, relay: Relay | undefined, parts: SseParts): SseRoutes {
  const { messageBytes } = parts.limits;
  const front = createSseFront({
    backend,
    messageBytes,
    ownHeaders: { accept: 'application/json, text/event-stream' },
  });
  return {
    front: relay === undefined ? front : relaySseFront(front, relay, messageBytes),
    replica: relay?.replica ?? 'local',
    changeStream(answer, caller) {
      const rewrite = parts.rules().answers(undefined, undefined, caller);
      return rewrite === undefined ? answer : rewriteAnswer(answer, { messageBytes, rewrite });
    },
    seal: parts.seal,
    clock: proxyClock,
    keepAliveMs: parts.times.keepAliveMs,
    untilStopped: parts.underWay.untilStopped,
    endpointPrefix: cleanPrefix(parts.config.endpoint_prefix),
  };
}

function openCallers(resource: ResourceSettings, outbound: Outbound, logger: Logger): Callers {
  const ports = {
    fetch: outbound.request,
    files: { read: readSecret },
    clock: proxyClock,
    notify: ({ message, ...notice }: { readonly message: string }) => logger.warn(notice, message),
  };
  return {
    authenticate: createAuthenticate(ports, resource.providers),
    resource,
    refused: ({ reason, ...data }) => logger.info({ code: reason, ...data }, explain(reason)),
  };
}

async function readSecret(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('secret-file-unreadable', `${path} cannot be read`, { data: { path }, cause });
  }
}

function servesMetrics({ telemetry_config: telemetry }: RunConfig): boolean {
  return telemetry?.enable_prometheus_metrics_path === true;
}
