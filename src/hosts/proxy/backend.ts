// Opens the connection to the MCP server behind a proxy: over HTTP, SSE or standard streams. A bridge serves clients of
// the other MCP protocol era.

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
  /** undefined if the server always runs. */
  readonly sleeping: SleepingBackend | undefined;
  /** undefined if sessions stay with their replica. */
  readonly relay: Relay | undefined;
  close(graceMs: number): Promise<void>;
}

const CONNECT_MS = 10_000;
/** Time that a process has to exit after its input ends, and again after SIGTERM. */
const PROCESS_GRACE_MS = 2000;
/** Time without any message, not even a response to a ping, after which a shared process is treated as ended. */
const SILENT_MS = 60_000;

/** Throws a Failure if the configuration lacks a setting that the transport requires. */
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

/** Returns a backend that receives the client's Host. The gate has already checked this Host. */
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
  // A pod that stays silent may be on a lost node. A silent local process is only busy.
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

/**
 * Reports successive Failures with the same code once, because a missing permission causes the same Failure for every
 * pod.
 */
function reportOnce(observer: BackendObserver): (failure: Failure) => void {
  let reported = '';
  return ({ code, message }) => {
    if (reported === code) return;
    reported = code;
    observer.log('warn', `a used pod is not replaced, so sessions wait longer for the next process: ${message}`);
  };
}

/** Returns the name of a pod of a StatefulSet, which ends with its index. `first`: name of the first pod. */
function podName(first: string, index: number, pods: number): string {
  return pods === 1 ? first : first.replace(/-0$/, `-${index}`);
}

/** Returns a random name, with which the ids of this process begin. The name is unique among replicas and restarts. */
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
 * Returns the Host that the configuration requires; undefined if it is the Service's name or the client's Host. With
 * `localhost`, a server that checks Host accepts requests, but cannot detect DNS rebinding.
 */
function hostHeader({ backend_host_header: host, target_port: port }: RunConfig): string | undefined {
  return host === 'localhost' ? `localhost:${port ?? 80}` : undefined;
}
