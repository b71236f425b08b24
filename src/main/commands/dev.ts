// `skep dev`: everything on one machine: embedded cluster and database, a sample repository, reconciler and registry.

import { resolve } from 'node:path';
import { Command } from 'commander';
import { systemClock } from '../clock.ts';

interface Options {
  readonly port: number;
  readonly data: string;
  readonly once?: boolean;
}

export function devCommand(): Command {
  return new Command('dev')
    .description('Run everything on this machine: cluster, database, sample repository, reconciler, registry.')
    .option('--port <number>', 'port of the registry service', Number, 8080)
    .option('--data <dir>', 'where the state is kept', '.skep/dev')
    .option('--once', 'one run, print, exit')
    .addHelpText('after', '\nExample:\n  skep dev --port 8080')
    .action(async ({ port, data, once }: Options) => {
      const { runDev: dev } = await import('../dev/session.ts');
      await dev({ port, dir: resolve(data), once: once === true, say: sayer() });
    });
}

/** Writes lines with the seconds since the start before them. */
function sayer(): (text: string) => void {
  const started = systemClock.monotonic();
  return (text) => {
    const seconds = ((systemClock.monotonic() - started) / 1000).toFixed(1).padStart(5);
    process.stdout.write(`[${seconds} s] ${text.replaceAll('\n', '\n          ')}\n`);
  };
}
