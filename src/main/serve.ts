// `skep serve`: the registry service of one MCPRegistry.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import type { Logger } from 'pino';
import type { CatalogueReader } from '../catalogue/ports.ts';
import type { RegistryConfig } from '../contracts/registry-service.ts';
import { Failure } from '../std/failure.ts';
import { formatProblem } from '../std/problem.ts';
import { systemClock } from './clock.ts';
import { untilSignal } from './signals.ts';
import { VERSION } from './version.ts';

interface Options {
  readonly config: string;
  readonly logLevel: string;
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('Serve the catalogue of one MCPRegistry over HTTP.')
    .option('-c, --config <file>', 'configuration file', 'registry.yaml')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .addHelpText('after', '\nExample:\n  skep serve --config=/config/config.yaml')
    .action(async ({ config: file, logLevel }: Options) => {
      const config = await readServeConfig(file);
      const { pino } = await import('pino');
      const { openDatabase } = await import('./database.ts');
      const logger = pino({ level: logLevel }, process.stderr);
      const database = openDatabase(config.database);
      const service = await startService(config, database, logger);
      process.stdout.write(`serving ${service.url}\n`);
      await untilSignal();
      await service.stop();
      await database.close();
    });
}

/** Throws Failure `config-invalid` with every problem; warnings go to stderr. */
export async function readServeConfig(file: string): Promise<RegistryConfig> {
  const { readRegistryConfig } = await import('../contracts/registry-config-read.ts');
  const result = readRegistryConfig(readText(file), file);
  if ('problems' in result) throw new Failure('config-invalid', result.problems.map(formatProblem).join('\n'));
  for (const warning of result.warnings) process.stderr.write(`${formatProblem(warning)}\n`);
  return result.config;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Failure('usage', `${file}: cannot be read`, { cause });
  }
}

export interface Service {
  readonly url: string;
  /** Requests under way are answered first. */
  stop(): Promise<void>;
}

/** Listens where the configuration says; port 0 lets the system choose. */
export async function startService(
  config: RegistryConfig,
  catalogue: CatalogueReader,
  logger: Logger,
): Promise<Service> {
  const [{ buildApp }, { createOutbound }] = await Promise.all([
    import('../registry/app.ts'),
    import('../adapters/http/outbound.ts'),
  ]);
  const outbound = createOutbound({ allowPrivate: [], version: VERSION });
  const app = await buildApp({
    config,
    catalogue,
    auth: { fetch: outbound.request, files: { read: readMounted }, clock: systemClock },
    logger,
    version: {
      version: VERSION,
      commit: 'unknown',
      build_date: 'unknown',
      node_version: process.version,
      platform: `${process.platform}/${process.arch}`,
    },
    newRequestId: randomUUID,
  });
  const { host, port } = config.listen;
  await app.listen({ host, port }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw new Failure('listen-failed', `cannot listen on ${host}:${port}${reason}`, { cause });
  });
  return {
    url: urlOf(app.server.address()),
    async stop() {
      await app.close();
      await outbound.close();
    },
  };
}

async function readMounted(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('secret-file-unreadable', `${path} cannot be read`, { cause });
  }
}

function urlOf(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') return String(address);
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
