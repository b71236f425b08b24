// `skep dev`: everything on one machine: embedded cluster and database, a sample repository, reconciler and registry.

import { resolve } from 'node:path';
import { Command } from 'commander';
import { systemClock } from '../clock.ts';
import { writeColoured } from '../colour.ts';
import { loadConfig } from '../config/configuration.ts';
import { readPort } from '../port.ts';

interface Options {
  readonly port: number;
  readonly data?: string;
  readonly config?: string;
  readonly once?: boolean;
}

export function devCommand(): Command {
  return new Command('dev')
    .description('Run everything on this machine: cluster, database, sample repository, reconciler, registry.')
    .option('--port <number>', 'port of the registry service', readPort, 8080)
    .option('--data <dir>', 'where the state is kept (default: .skep/dev)')
    .option(
      '-c, --config <file>',
      'follow the sources of this skep.yaml instead of the sample; dev.images says what may run',
    )
    .option('--once', 'one run, print, exit')
    .addHelpText('after', '\nExamples:\n  skep dev --port 8080\n  skep dev -c skep.yaml')
    .action(async ({ port, data, once, config }: Options) => {
      const given = config === undefined ? undefined : await loadConfig({ config });
      const { runDev } = await import('../dev/session.ts');
      // Fleets of two configurations do not share a cluster.
      const dir = resolve(data ?? (given === undefined ? '.skep/dev' : `.skep/dev-${given.name}`));
      await runDev({ port, dir, once: once === true, given, say: sayer() });
    });
}

/** Writes lines with the seconds since the start before them. */
function sayer(): (text: string) => void {
  const started = systemClock.monotonic();
  return (text) => {
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1).padStart(5);
    writeColoured(process.stdout, `[${seconds} s] ${text.replaceAll('\n', '\n          ')}\n`);
  };
}
