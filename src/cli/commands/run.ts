// `skep run`: makes runs on a schedule until it is stopped.

import { Command, Option } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { writeColoured } from '#hosts/colour.ts';
import { type InstanceFlags, loadConfig, withInstanceFlags } from '#hosts/config/configuration.ts';
import { keepServing } from '#hosts/keep-serving.ts';
import type { LogLevel } from '#hosts/log.ts';
import { commandOf } from '#hosts/own-command.ts';

interface Options extends InstanceFlags {
  readonly logLevel: LogLevel;
}

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster as declared in Git: a run at each tick of the schedule, until stopped.')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addHelpText(
      'after',
      '\nOn a terminal it prints the changes of runs; elsewhere it logs JSON to stderr.\n' +
        '\nExamples:\n  skep run -c /etc/skep/skep.yaml\n  skep run -c skep.yaml --log-level debug 2>skep.log',
    )
    .action(async ({ logLevel, ...flags }: Options) => {
      keepServing();
      const config = await loadConfig(flags);
      const [{ keepRunning }, { awaitSignal: untilSignal }, { createLogger }, { tellLog, tellPeople }] =
        await Promise.all([
          import('#hosts/reconciler/loop/keep.ts'),
          import('#hosts/signals.ts'),
          import('#hosts/log.ts'),
          import('#hosts/reconciler/loop/teller.ts'),
        ]);
      const { stdout, stderr } = process;
      const logger = createLogger(logLevel, stderr);
      const streams = {
        out: (text: string) => writeColoured(stdout, withTime(text)),
        err: (text: string) => writeColoured(stderr, withTime(text)),
      };
      const teller = stderr.isTTY ? tellPeople(streams, commandOf(flags)) : tellLog(logger);
      const ended = await keepRunning(config, { enough: untilSignal(), teller, logger });
      // A run that has not ended in time would keep the process alive.
      if (!ended) process.exit(0);
    });
}

/** Adds the time to each line, such as `2026-01-02T03:04:05Z `. */
function withTime(text: string): string {
  const time = new Date(systemClock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return text.replaceAll(/^(?=.)/gm, `${time} `);
}
