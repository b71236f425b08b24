// Runs a virtual server that follows its configuration file. Changes take effect without a restart, and an invalid file
// changes nothing.

import type { Logger } from 'pino';
import { VMCP_ENV, type VmcpConfig } from '#contracts/vmcp-config.ts';
import type { Environment } from '#std/environment.ts';
import { Failure } from '#std/failure.ts';
import { createLogger, type LogLevel } from '../log.ts';
import { proxyClock } from '../proxy/clock.ts';
import { createWatchedFiles, type WatchedFiles } from '../watched-files.ts';
import { readVirtualConfig } from './config.ts';
import { type RunningVirtualServer, startVirtualServer } from './vmcp.ts';

export interface FileOptions {
  readonly config: string;
  readonly host: string;
  readonly port: number;
  readonly debug?: true;
  readonly logLevel: LogLevel;
}

const LOOK_MS = 2000;

/** Throws a Failure if the file cannot be used at the start. */
export async function serveFile(options: FileOptions, environment: Environment): Promise<RunningVirtualServer> {
  const { config: file, host, port } = options;
  const files = createWatchedFiles();
  const ownUrl = `http://${reachableHost(host)}:${port}/mcp`;
  const config = readVirtualConfig(files, file, ownUrl);
  const always = options.debug === true || environment.TOOLHIVE_DEBUG === 'true';
  const levelOf = ({ operational }: VmcpConfig) =>
    always || operational.logLevel === 'debug' ? 'debug' : options.logLevel;
  const logger = createLogger(levelOf(config), process.stderr);
  const place = { host, port, namespace: environment[VMCP_ENV.namespace] ?? '' };
  const running = await startVirtualServer({ config, place, environment, files, logger });
  const stopLooking = followFile({ files, file, ownUrl, logger, levelOf, running });
  return {
    ...running,
    async stop() {
      stopLooking();
      await running.stop();
    },
  };
}

/** Returns the host for the server's URL: `localhost` if the server listens on all addresses. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

interface Following {
  readonly files: WatchedFiles;
  readonly file: string;
  readonly ownUrl: string;
  readonly logger: Logger;
  readonly levelOf: (config: VmcpConfig) => LogLevel;
  readonly running: Pick<RunningVirtualServer, 'replace'>;
}

function followFile({ files, file, ownUrl, logger, levelOf, running }: Following): () => void {
  let text = files.read(file);
  /** Message of the last logged failure, which is logged only once. */
  let fault = '';
  return proxyClock.every(LOOK_MS, () => {
    try {
      const now = files.readSettings(file);
      fault = '';
      if (now === text) return;
      text = now;
      const next = readVirtualConfig(files, file, ownUrl);
      running.replace(next);
      logger.level = levelOf(next);
      logger.info({ file }, 'configuration read again');
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.message === fault) return;
      fault = error.message;
      logger.error({ code: error.code, file }, `${error.message}; the last good configuration stays in use`);
    }
  });
}
