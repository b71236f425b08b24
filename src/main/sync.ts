// `skep sync`: one run, then exit.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function syncCommand(): Command {
  return withInstanceFlags(new Command('sync'))
    .description('Make the cluster what Git says, once, and wait until it is ready.')
    .addOption(outputOption())
    .addHelpText('after', '\nExample:\n  skep sync -c skep.yaml -o json')
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { exitCodeOf }, { textOfEnding, textOfOutcome }, { jsonOfRun }] = await Promise.all([
        import('./instance.ts'),
        import('../reconcile/result.ts'),
        import('../report/text.ts'),
        import('../report/json.ts'),
      ]);
      const json = flags.output === 'json';
      // Each change is told as it is made; where JSON is asked for, only to a person who watches.
      const progress = json ? process.stderr : process.stdout;
      const quiet = json && !process.stderr.isTTY;
      const instance = await openInstance(config, (outcome) => {
        if (!quiet) progress.write(`${textOfOutcome(outcome)}\n`);
      });
      try {
        const result = await instance.run();
        process.stdout.write(json ? jsonOfRun(result) : textOfEnding(result));
        process.exitCode = exitCodeOf(result);
      } finally {
        await instance.close();
      }
    });
}
