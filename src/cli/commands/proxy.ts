// `skep proxy`: serves the proxy in front of one MCP server.

import { Command, Option } from 'commander';
import { releaseMemoryWhenIdle } from '#hosts/idle-memory.ts';
import { keepServing } from '#hosts/keep-serving.ts';
import type { LogLevel } from '#hosts/log.ts';
import { awaitSignal } from '#hosts/signals.ts';
import { spendMemory } from '#hosts/v8-flags.ts';

interface Options {
  readonly config: string;
  readonly logLevel: LogLevel;
}

export function proxyCommand(): Command {
  return new Command('proxy')
    .description('Serve one MCP server behind authentication, policies and audit.')
    .requiredOption('-c, --config <file>', 'run configuration (JSON)')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText('after', '\nExample:\n  skep proxy --config=/etc/runconfig/runconfig.json')
    .action(async ({ config: file, logLevel }: Options) => {
      spendMemory();
      keepServing();
      const { createLogger } = await import('#hosts/log.ts');
      const { followConfig, readProxyConfig } = await import('#hosts/proxy/config.ts');
      const { createWatchedFiles } = await import('#hosts/watched-files.ts');
      const { startProxy } = await import('#hosts/proxy/proxy.ts');
      const files = createWatchedFiles();
      const { config, unknown } = readProxyConfig(files, file);
      const logger = createLogger(logLevel, process.stderr);
      for (const pointer of unknown) logger.warn({ pointer, file }, 'a setting of a newer release has no effect');
      const readConfig = followConfig(files, file, config);
      const proxy = await startProxy({ config, readConfig, environment: process.env, files, logger });
      process.stdout.write(`serving ${proxy.url}\n`);
      releaseMemoryWhenIdle();
      await awaitSignal();
      await proxy.stop();
    });
}
