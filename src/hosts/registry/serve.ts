// Reads the configuration of the registry service of an MCPRegistry, and opens its listeners.

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import type { CatalogueReader } from '#registry/catalogue/ports.ts';
import type { MetricsAppOptions } from '#registry/service/metrics.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import type { BeginRequest } from '#std/telemetry/trace.ts';
import { textOfFile } from '#std/utf8.ts';
import { systemClock } from '../clock.ts';
import { settingsText } from '../config/settings-file.ts';
import { egressFrom } from '../egress.ts';
import { listen } from '../listen.ts';
import { watchUsage } from '../process-usage.ts';
import { readBuild, VERSION } from '../version.ts';

/** Throws Failure `config-invalid` with all problems. Writes warnings to stderr. */
export async function readServeConfig(file: string): Promise<RegistryConfig> {
  const { readRegistryConfig } = await import('#contracts/registry/config-read.ts');
  const result = readRegistryConfig(readSettings(file), file, process.env);
  if ('problems' in result) throw new Failure('config-invalid', result.problems.map(formatProblem).join('\n'));
  for (const warning of result.warnings) process.stderr.write(`${formatProblem(warning)}\n`);
  return result.config;
}

function readSettings(file: string): string {
  const text = settingsText(file);
  if (text === undefined) throw new Failure('usage', `${file}: no such file`);
  return text;
}

export interface Service {
  readonly url: string;
  /** Origin of /metrics. Not set if the configuration has no metrics. */
  readonly metricsUrl?: string;
  /** Reports not ready, and resolves after clients had time to notice. Requests are served until `stop`. */
  drain(): Promise<void>;
  /** Responds to a request that another listener received. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Waits for requests in flight, and closes all parts. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly traced?: BeginRequest | undefined;
  /**
   * URL of the listener that passes requests to `handle`, and that also lists the servers on this machine. If not set,
   * the service opens its own listener.
   */
  readonly within?: string | undefined;
  /** Reads a file that the configuration names. If not set, files of this machine are read. */
  readonly readFile?: (path: string) => Promise<string>;
}

/**
 * Listens at the configured address. Port 0 lets the operating system choose a port. If a part cannot be opened, closes
 * the other parts.
 */
export async function startService(
  config: RegistryConfig,
  catalogue: CatalogueReader,
  logger: Logger,
  { traced, within, readFile: read = readMounted }: ServiceOptions = {},
): Promise<Service> {
  const closing: (() => Promise<unknown>)[] = [];
  let isStopping = false;
  async function drain(): Promise<void> {
    isStopping = true;
    await sleep(config.limits.shutdownGraceMs, undefined, { ref: false });
  }
  async function stop(): Promise<void> {
    for (const close of closing.splice(0).reverse()) await close();
  }
  try {
    const [{ buildApp }, { createOutbound }, { createServiceMetrics }] = await Promise.all([
      import('#registry/service/app.ts'),
      import('#adapters/http/outbound.ts'),
      import('#registry/service/metrics.ts'),
    ]);
    const metrics = createServiceMetrics(VERSION, config.registries);
    const outbound = createOutbound({ allowPrivate: [], egress: egressFrom(process.env), version: VERSION });
    closing.push(() => outbound.close());
    const app = await buildApp({
      config,
      catalogue,
      auth: { fetch: outbound.request, files: { read }, clock: systemClock },
      logger,
      version: versionInfo(),
      newRequestId: randomUUID,
      metrics,
      traced,
      isStopping: () => isStopping,
      runsBeside: within !== undefined,
    });
    closing.push(() => app.close());
    // Opened before the service is ready, because clients may request metrics as soon as it is ready.
    const metricsUrl = await startMetrics({ metrics, config, catalogue, logger }, closing);
    if (within !== undefined) await app.ready();
    const url = within ?? (await listen(app, config.listen));
    return { url, metricsUrl, drain, stop, handle: app.routing };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the response of GET /version. */
function versionInfo() {
  const { commit, date } = readBuild();
  const platform = `${process.platform}/${process.arch}`;
  return { version: VERSION, commit, build_date: date, node_version: process.version, platform };
}

async function startMetrics(
  options: Omit<MetricsAppOptions, 'usage' | 'config'> & { readonly config: RegistryConfig },
  closing: (() => Promise<unknown>)[],
): Promise<string | undefined> {
  const { metrics: address } = options.config;
  if (address === undefined) return undefined;
  const { buildMetricsApp } = await import('#registry/service/metrics.ts');
  const { usage, stop } = watchUsage();
  closing.push(async () => stop());
  const app = buildMetricsApp({ ...options, usage });
  closing.push(() => app.close());
  return await listen(app, address);
}

async function readMounted(path: string): Promise<string> {
  try {
    return textOfFile(await readFile(path), path, 'secret-file-unreadable');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('secret-file-unreadable', `${path} cannot be read`, { cause });
  }
}
