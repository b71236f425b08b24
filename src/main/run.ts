// `skep run`: runs on the schedule until it is told to stop.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from './configuration.ts';

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster what Git says, on a schedule.')
    .addHelpText('after', '\nExample:\n  skep run -c /etc/skep/skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { startRuns }, { textOfChanges, textOfOutcome }, { untilSignal }] = await Promise.all([
        import('./instance.ts'),
        import('./runs.ts'),
        import('../report/text.ts'),
        import('./signals.ts'),
      ]);
      const instance = await openInstance(config, (outcome) => process.stdout.write(`${textOfOutcome(outcome)}\n`));
      try {
        const runs = startRuns(instance, config, {
          result: (result) => process.stdout.write(textOfChanges(result)),
          failure: (failure) => process.stderr.write(`error ${failure.code}: ${failure.message}\n`),
        });
        await untilSignal();
        await runs.stop();
      } finally {
        await instance.close();
      }
    });
}
