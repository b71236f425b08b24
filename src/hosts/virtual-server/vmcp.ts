// Starts `skep vmcp serve`: serves many MCP servers as one server, behind the gate that proxies have.

import type { Logger } from 'pino';
import { createOutbound, type Outbound } from '#adapters/http/outbound.ts';
import { trustedRoots } from '#adapters/http/trust.ts';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import { followed } from '#contracts/key-readings.ts';
import { type RunConfig, SECRET_ENV } from '#contracts/run-config.ts';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import { VMCP_CONFIG_KEYS, virtualKeysForRestart } from '#contracts/vmcp-config-keys.ts';
import type { Upstream } from '#gateway/backends/ports.ts';
import { listenHttp } from '#gateway/proxy/listener.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { createHandle, type Handle } from '#gateway/proxy/proxy.ts';
import { limitsOf, timesOf } from '#gateway/proxy/settings.ts';
import { readClientHeaders } from '#gateway/proxy/steps/client-headers.ts';
import { knownTools, type Offer } from '#gateway/virtual-server/catalogue/assemble.ts';
import { answerOperator } from '#gateway/virtual-server/operators.ts';
import type { InnerCalls, OwnTools } from '#gateway/virtual-server/own-tools/ports.ts';
import { createSessionSeal, type SessionSeal } from '#gateway/wire/seal.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import type { OpenIssuer } from '../issuer.ts';
import { proxyClock } from '../proxy/clock.ts';
import { reportBroken } from '../proxy/record.ts';
import { createSettings } from '../proxy/settings.ts';
import { countUnderWay, stopProxy, type UnderWay } from '../proxy/stop.ts';
import { listenMetrics } from '../proxy/telemetry.ts';
import { VERSION } from '../version.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { gateConfig, type Place } from './gate-config.ts';
import { openVirtualIssuer } from './issuer.ts';
import { openObservation } from './observation.ts';
import { openOperatorDocuments } from './operators.ts';
import { openOptimizer } from './optimizer.ts';
import { openVirtualRules, type VirtualRules } from './rules.ts';
import { openStores } from './session-store.ts';
import { openStatusReport, type StatusReport } from './status-report.ts';
import { openWorkflows } from './workflows.ts';
import { openWorld } from './world.ts';

export interface VirtualOptions {
  readonly config: VmcpConfig;
  readonly place: Place;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly logger: Logger;
  /** Creates the server's own tools. If not set, its workflows are its own tools. */
  readonly ownTools?: (calls: InnerCalls) => OwnTools;
  /** Writes audit lines. If not set, the lines are written to the configured file or to standard output. */
  readonly writeAudit?: (line: string) => void;
}

export interface RunningVirtualServer {
  /** URL of the server for clients. */
  readonly url: string;
  /** Applies a new configuration. If the configuration cannot be used, throws a Failure and changes nothing. */
  replace(config: VmcpConfig): void;
  stop(): Promise<void>;
}

/** Resolves when the server listens. If a part cannot be opened, closes the other parts and throws a Failure. */
export async function startVirtualServer(options: VirtualOptions): Promise<RunningVirtualServer> {
  const closing: (() => unknown)[] = [];
  try {
    return await openParts(options, closing);
  } catch (error) {
    for (const close of closing.reverse()) await close();
    throw error;
  }
}

const CONNECT_MS = 10_000;

async function openParts(options: VirtualOptions, closing: (() => unknown)[]): Promise<RunningVirtualServer> {
  const { config, place, logger, environment } = options;
  let current = config;
  const gate = gateConfig(config, place);
  const { world, rules, settings, underWay, status, workflows, recorder, numbers } = await openFixed(
    options,
    gate,
    closing,
  );
  let handle: Handle;

  /** Throws a Failure before it changes any part. */
  function use(next: VmcpConfig): void {
    const parts = settings(gateConfig(next, place));
    const { passthroughHeaders: names } = next;
    const clientHeaders = names === undefined ? undefined : readClientHeaders(names);
    rules.replace(next);
    current = next;
    handle = createHandle({ ...parts, clientHeaders, plain: { ...parts.plain, documents: world.documents } });
  }

  use(config);
  const parts = () => ({ ...world.overview(), runs: workflows.runs() });
  const documents = openOperatorDocuments({ environment, config: () => current, parts, metricsText: numbers.text });
  const answer: Handle = (request, response) => {
    if (!answerOperator(documents, request, response)) handle(request, response);
  };
  const listener = await listenHttp(place, answer, reportBroken(logger));
  closing.push(() => listener.destroy());
  const aside = await listenMetrics(gate, world.health, numbers.text, logger);
  closing.push(() => aside?.destroy());
  logger.info({ server: config.name, backends: config.backends.length, url: listener.url }, 'virtual server serves');
  return {
    url: `${listener.url}/mcp`,
    replace(other) {
      const next = followed(VMCP_CONFIG_KEYS, config, other);
      const useMembers = world.prepare(next);
      use(next);
      recorder.replace(next);
      workflows.replace(next);
      useMembers();
      status?.replace(next);
      const keys = virtualKeysForRestart(config, other);
      if (keys.length === 0) return;
      logger.warn(
        { code: 'vmcp-restart-needed' },
        `${keys.join(', ')} of the configuration is read only at the start: restart the process`,
      );
    },
    stop: () => stopProxy({ health: world.health, listener, times: timesOf(gate), closing, underWay }),
  };
}

/** Opens the parts that stay when the configuration changes: unchanged members, sessions, keys, metrics, telemetry. */
async function openFixed(options: VirtualOptions, gate: RunConfig, closing: (() => unknown)[]) {
  const { config, place, environment, files, logger } = options;
  const [times, { messageBytes }] = [timesOf(gate), limitsOf(gate)];
  const { outbound, upstream } = openConnections(closing);
  const seal = openSeal(environment[VMCP_ENV.sessionHmacSecret]);
  const rules = openVirtualRules(config, { logger, seal, lastOffer: (caller) => world.lastOffer(caller) });
  const { metrics, numbers, telemetry, audit, recorder, ...watching } = await openObservation(options, gate, closing);
  const replica = proxyClock.random(6).toString('hex');
  const issuer = await openVirtualIssuer({
    ...{ config, environment, files, outbound, logger, metrics: metrics.metrics },
    injects: () => world.overview().members.some((member) => member.needsProvider),
  });
  const credentials = { ...credentialPorts(options, outbound), ...loginTokens(issuer) };
  closing.push(() => issuer?.close());
  const members = { upstream, openTrusting, seal, messageBytes, replica, ...watching, credentials };
  const workflows = openWorkflows({
    ...{ config, logger, metrics: metrics.metrics, beginSpan: telemetry?.beginSpan },
    audit: { keeps: audit.keeps, write: recorder.write },
  });
  const ownTools = options.ownTools ?? workflows.ownTools;
  const stores = await openStores(
    { ...options, namespace: place.namespace },
    watching.observer,
    replica,
    metrics.metrics,
  );
  closing.push(stores.close);
  const own = { ...offerRules(rules), optimizer: openSearch(options, outbound, metrics), ownTools, ...stores };
  let status: StatusReport | undefined;
  const world = openWorld({ config, logger, messageBytes, members, ...own, healthChanged: () => status?.changed() });
  status = openStatusReport({ config, environment, logger, members: world.members });
  closing.push(() => status?.stop());
  closing.push(() => world.backend.close(0), world.stop);
  const underWay = countUnderWay();
  const settings = createSettings({
    fixed: {
      ...{ backend: world.backend, rules, seal, health: world.health, times },
      endpoint: '/mcp',
      serveIssuer: issuer?.serve,
      beginSpan: telemetry?.beginSpan,
      active: countActive(metrics, underWay),
      untilStopped: underWay.untilStopped,
      keptAnswerBytes: audit.keptAnswerBytes,
    },
    metricsText: gate.telemetry_config?.enable_prometheus_metrics_path === true ? numbers.text : undefined,
    ...{ sse: undefined, webhooks: undefined, issuer, environment: withClientSecret(environment, config) },
    ...{ files, logger, outbound, recorder, rateLimits: stores.rateLimits },
  });
  return { world, rules, settings, underWay, status, workflows, recorder: audit, numbers };
}

function loginTokens(issuer: OpenIssuer | undefined) {
  return { providerToken: issuer?.upstreamToken, providerIdToken: issuer?.upstreamIdToken };
}

function openConnections(closing: (() => unknown)[]) {
  const outbound = createOutbound({ allowPrivate: [], version: VERSION });
  const upstream = createUpstream({ connectTimeoutMs: CONNECT_MS });
  closing.push(
    () => outbound.close(),
    () => upstream.close(),
  );
  return { outbound, upstream };
}

/** Opens connections for one member, which closes them when it is closed. */
function openTrusting(caFile: string): Upstream {
  return createUpstream({ ca: trustedRoots({ caFile }), connectTimeoutMs: CONNECT_MS });
}

function openSearch({ config, logger, environment }: VirtualOptions, { request }: Outbound, { metrics }: ProxyMetrics) {
  return openOptimizer(config, { fetch: request, logger, metrics, environment });
}

/** Copies the client secret from the configured variable into the variable that the code of proxies reads. */
function withClientSecret(environment: Environment, { incomingAuth }: VmcpConfig): Environment {
  return { ...environment, [SECRET_ENV.oidcClientSecret]: environment[incomingAuth.oidc?.clientSecretEnv ?? ''] };
}

function offerRules({ denial, permittedTools, learn }: VirtualRules) {
  return { denial, permittedTools, assembled: (offer: Offer) => learn(knownTools(offer)) };
}

function countActive(metrics: ProxyMetrics, underWay: UnderWay) {
  return (change: 1 | -1, kind: 'request' | 'stream'): void => {
    if (kind === 'stream') metrics.streams(change);
    else {
      metrics.active(change);
      underWay.count(change);
    }
  };
}

const KEY_BYTES_MIN = 32;

/**
 * Returns the seal of session ids. Without a secret, the key is random: other replicas, and this process after a
 * restart, cannot open the session ids.
 */
function openSeal(secret: string | undefined): SessionSeal {
  const key = secret === undefined ? proxyClock.random(KEY_BYTES_MIN) : Buffer.from(secret.trim());
  if (key.length < KEY_BYTES_MIN) {
    const message = `the variable ${VMCP_ENV.sessionHmacSecret} must hold at least ${KEY_BYTES_MIN} characters`;
    throw new Failure('vmcp-config-invalid', message);
  }
  return createSessionSeal({ keys: [key], random: proxyClock.random });
}

function credentialPorts({ environment, files, logger }: VirtualOptions, outbound: Outbound) {
  return {
    fetch: outbound.request,
    clock: proxyClock,
    environment,
    secretFiles: files,
    notify: ({ message, ...notice }: { readonly message: string }) => logger.warn(notice, message),
  };
}
