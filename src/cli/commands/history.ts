// `skep history`: shows the recorded runs, or the changes of one run.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import { chooseTimes } from '../times.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function historyCommand(): Command {
  return withInstanceFlags(new Command('history'))
    .description('Show the runs that changed something or found something new, or the changes of one of them.')
    .argument('[run]', 'its id, or the beginning of its id')
    .addOption(outputOption())
    .addHelpText('after', '\nExamples:\n  skep history -c skep.yaml\n  skep history 3f1c0b5e -o json')
    .action(async (start: string | undefined, flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openForOperator }, { findRun }, { jsonOfHistory, jsonOfRecord, textOfHistory, textOfRecord }] =
        await Promise.all([
          import('#hosts/reconciler/instance/instance.ts'),
          import('#reconciler/run/history/find.ts'),
          import('#reconciler/report/history.ts'),
        ]);
      const instance = await openForOperator(config);
      try {
        const json = flags.output === 'json';
        const runs = await instance.history.latest(config.history.limit);
        if (start === undefined) process.stdout.write(json ? jsonOfHistory(runs) : textOfHistory(runs, chooseTimes()));
        else {
          const run = findRun(runs, start);
          process.stdout.write(json ? jsonOfRecord(run) : textOfRecord(run));
        }
      } finally {
        await instance.close();
      }
    });
}
