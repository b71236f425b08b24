// Opens the MCP server behind a proxy as its configuration says: over HTTP, SSE or standard streams, with a bridge for
// clients of the other protocol era.

import type { Logger } from 'pino';
import { trustedRoots } from '#adapters/http/trust.ts';
import { createUpstream } from '#adapters/upstream/upstream.ts';
import type { RunConfig } from '#contracts/run-config.ts';
import type { Backend } from '#gateway/backends/backend.ts';
import { bridgeEras } from '#gateway/backends/bridge/bridge.ts';
import { createHttpBackend } from '#gateway/backends/http.ts';
import type { Processes } from '#gateway/backends/ports.ts';
import { relayBackend } from '#gateway/backends/relay/backend.ts';
import type { Relay } from '#gateway/backends/relay/relay.ts';
import type { BackendObserver } from '#gateway/backends/sessions/observer.ts';
import type { SleepingBackend } from '#gateway/backends/sleep/backend.ts';
import { createSseBackend } from '#gateway/backends/sse/backend.ts';
import { createPerSessionStdio } from '#gateway/backends/stdio/per-session.ts';
import { createSharedStdio } from '#gateway/backends/stdio/shared.ts';
import type { ProxyMetrics } from '#gateway/proxy/metrics.ts';
import { type ServiceLimits, type ServiceTimes, type Target, targetOf } from '#gateway/proxy/settings.ts';
import type { SessionSeal } from '#gateway/wire/seal.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../clock.ts';
import { VERSION } from '../version.ts';
import type { WatchedFiles } from '../watched-files.ts';
import { proxyClock } from './clock.ts';
import { openProxyRelay } from './relay.ts';
import { openSleeping } from './sleep.ts';

export interface BackendOptions {
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly files: WatchedFiles;
  readonly sessionKeys: readonly Buffer[];
  readonly logger: Logger;
  readonly seal: SessionSeal;
  readonly limits: ServiceLimits;
  readonly times: ServiceTimes;
  readonly metrics: ProxyMetrics;
}

export interface OpenBackend {
  readonly backend: Backend;
  /** If undefined, the server always runs. */
  readonly sleeping: SleepingBackend | undefined;
  /** If undefined, sessions stay with their replica. */
  readonly relay: Relay | undefined;
  close(graceMs: number): Promise<void>;
}

const CONNECT_MS = 10_000;
/** Time for a process to end by itself, and again to end after SIGTERM. */
const PROCESS_GRACE_MS = 2000;
/** A shared process that has sent nothing for this long, not even a response to a ping, counts as gone. */
const SILENT_MS = 60_000;

/** Throws a Failure if the configuration lacks a setting that its transport needs. */
export async function openBackend(options: BackendOptions): Promise<OpenBackend> {
  const target = targetOf(options.config);
  const observer = observe(options.logger, options.metrics);
  const relay =
    target.kind === 'http' ? undefined : await openProxyRelay({ ...options, observer, replica: newReplica() });

  /** Opens the server with all layers that have state of one run of the server. */
  async function openServer(): Promise<Backend> {
    const { backend, close } =
      target.kind === 'stdio' ? await openStdio(options, observer) : openRemote(options, target, observer);
    const bridged = bridgeEras(
      relay === undefined ? backend : relayBackend(backend, relay),
      { clock: proxyClock, seal: options.seal },
      { messageBytes: options.limits.messageBytes },
    );
    return {
      ...bridged,
      async close(graceMs) {
        await bridged.close(graceMs);
        await close();
      },
    };
  }

  const sleeping = await openSleeping(options, openServer);
  const backend = sleeping ?? (await openServer());
  return {
    ...{ backend, sleeping, relay },
    close: async (graceMs) => {
      await backend.close(graceMs);
      await relay?.close();
    },
  };
}

interface Opened {
  readonly backend: Backend;
  close(): Promise<void>;
}

function openRemote(
  { config, limits, times }: BackendOptions,
  target: Exclude<Target, { kind: 'stdio' }>,
  observer: BackendObserver,
): Opened {
  const upstream = createUpstream({
    ca: trustedRoots({ caFile: config.backend_ca_file }),
    connectTimeoutMs: CONNECT_MS,
  });
  const ports = { upstream, clock: proxyClock };
  const host = hostHeader(config);
  const backend =
    target.kind === 'http'
      ? createHttpBackend({ ...target, ...times, host }, ports)
      : createSseBackend(
          { ...target, ...times, host, messageBytes: limits.messageBytes },
          { ...ports, observer, replica: newReplica() },
        );
  const preserved = config.backend_host_header === 'preserve' ? withHostOfClient(backend) : backend;
  return { backend: preserved, close: () => upstream.close() };
}

/** Sends the client's Host, which the gate has checked already. */
function withHostOfClient(backend: Backend): Backend {
  return {
    ...backend,
    open(exchange, answer) {
      const host = exchange.headers['x-forwarded-host'];
      if (host === undefined) return backend.open(exchange, answer);
      return backend.open({ ...exchange, headers: { ...exchange.headers, host } }, answer);
    },
  };
}

async function openStdio(
  { config, environment, limits, times }: BackendOptions,
  observer: BackendObserver,
): Promise<Opened> {
  const { sharing, pods } = config.stdio ?? { sharing: 'shared', pods: 1 };
  const parts = {
    clock: proxyClock,
    observer,
    replica: newReplica(),
    limits: { keepAliveMs: times.keepAliveMs, silenceMs: times.firstByteMs },
    maxLineBytes: limits.messageBytes,
  };
  // A silent remote node may have been lost, but a silent process of our own is working.
  const silentMs = config.process === undefined ? SILENT_MS : undefined;
  const processes = await openProcesses(config, environment, observer);
  const backend =
    sharing === 'perSession'
      ? createPerSessionStdio({ ...parts, processes, pods })
      : createSharedStdio({
          ...{ ...parts, openStreams: processes.open, silentMs },
          clientInfo: { name: 'skep', version: VERSION },
        });
  return { backend, close: async () => undefined };
}

async function openProcesses(
  config: RunConfig,
  environment: Environment,
  observer: BackendObserver,
): Promise<Processes> {
  if (config.process !== undefined) {
    const { createSessionProcesses } = await import('#adapters/process/process.ts');
    const { command, env = {}, directory } = config.process;
    const [program = '', ...args] = command;
    return createSessionProcesses({
      command: [program, ...args],
      env,
      directory,
      graceMs: PROCESS_GRACE_MS,
      clock: proxyClock,
    });
  }
  if (config.attach === undefined) {
    throw new Failure(
      'proxy-config-invalid',
      '/transport is stdio, and neither /attach nor /process locates the server',
    );
  }
  return openPods(config.attach, config.stdio, environment, observer);
}

async function openPods(
  { namespace, pod, container }: NonNullable<RunConfig['attach']>,
  stdio: RunConfig['stdio'],
  environment: Environment,
  observer: BackendObserver,
): Promise<Processes> {
  const [{ createPods }, { openCredentials }] = await Promise.all([
    import('#adapters/attach/attach.ts'),
    import('#adapters/cluster/credentials.ts'),
  ]);
  const credentials = await openCredentials({ usual: environment.KUBECONFIG, clock: systemClock });
  return createPods({
    server: credentials.server,
    namespace,
    pod: (index) => podName(pod, index, stdio?.pods ?? 1),
    container,
    credentials: credentials.current,
    clock: proxyClock,
    replacePod: stdio?.sharing === 'perSession' ? { failed: reportOnce(observer) } : undefined,
  });
}

/** Reports a Failure once, because a missing permission fails again for every pod. */
function reportOnce(observer: BackendObserver): (failure: Failure) => void {
  let reported = '';
  return ({ code, message }) => {
    if (reported === code) return;
    reported = code;
    observer.log('warn', `a used pod is not replaced, so sessions wait longer for the next process: ${message}`);
  };
}

/** Returns the name of a pod of a StatefulSet, which ends in its number. The configuration names the first pod. */
function podName(first: string, index: number, pods: number): string {
  return pods === 1 ? first : first.replace(/-0$/, `-${index}`);
}

/** Returns a name that is unique among replicas and their restarts: ids that this process creates begin with it. */
function newReplica(): string {
  return proxyClock.random(6).toString('hex');
}

function observe(logger: Logger, metrics: ProxyMetrics): BackendObserver {
  return {
    dropped: metrics.dropped,
    log: (level, message) => logger[level]({ part: 'backend' }, message),
  };
}

/**
 * Returns the configured Host. With a rewritten Host a server cannot detect DNS rebinding, but with the name of the
 * Service a server that checks the Host refuses requests.
 */
function hostHeader({ backend_host_header: host, target_port: port }: RunConfig): string | undefined {
  return host === 'localhost' ? `localhost:${port ?? 80}` : undefined;
}
