// `skep serve`: runs the registry service of one MCPRegistry.

import { Command, Option } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { keepServing } from '#hosts/keep-serving.ts';
import type { LogLevel } from '#hosts/log.ts';
import { readServeConfig, startService } from '#hosts/registry/serve.ts';
import { awaitSignal } from '#hosts/signals.ts';
import { openTracing } from '#hosts/tracing.ts';

interface Options {
  readonly config: string;
  readonly logLevel: LogLevel;
}

export function serveCommand(): Command {
  return new Command('serve')
    .description('Serve the catalogue of one MCPRegistry over HTTP, until stopped.')
    .option('-c, --config <file>', 'configuration file', 'registry.yaml')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText(
      'after',
      '\nExample:\n  skep serve --config=/config/config.yaml\n\nEach setting can also come from the environment: SKEP_REGISTRY_DATABASE_HOST=postgres sets database.host.',
    )
    .action(async ({ config: file, logLevel }: Options) => {
      keepServing();
      const config = await readServeConfig(file);
      const { createLogger } = await import('#hosts/log.ts');
      const { openDatabase } = await import('#hosts/database.ts');
      const { startSync } = await import('#hosts/registry/sync.ts');
      const { startMigration } = await import('#hosts/registry/migration.ts');
      const logger = createLogger(logLevel, process.stderr);
      const database = openDatabase(config.database);
      const running: { stop(): Promise<void> }[] = [];
      try {
        running.push(await startMigration(config, { logger, clock: systemClock }));
        const tracing = await openTracing(process.env);
        if (tracing !== undefined) running.push({ stop: tracing.close });
        const service = await startService(config, database, logger, { traced: tracing?.request });
        running.push(service);
        const deps = { writer: database, database: config.database, clock: systemClock, logger, random: Math.random };
        const sync = await startSync(config, deps);
        if (sync !== undefined) running.push(sync);
        if (service.metricsUrl !== undefined) logger.info(`metrics at ${service.metricsUrl}/metrics`);
        process.stdout.write(`serving ${service.url}\n`);
        await awaitSignal();
        await service.drain();
      } finally {
        for (const each of running.reverse()) await each.stop();
        await database.close();
      }
    });
}
