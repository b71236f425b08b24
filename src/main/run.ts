// `skep run`: runs on the schedule until it is told to stop.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from './configuration.ts';

export function runCommand(): Command {
  return withInstanceFlags(new Command('run'))
    .description('Keep the cluster what Git says, on a schedule.')
    .addHelpText('after', '\nExample:\n  skep run -c /etc/skep/skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { startRuns }, { tellOutcomes, textOfChanges }, { untilSignal }] = await Promise.all([
        import('./instance.ts'),
        import('./runs.ts'),
        import('../report/text.ts'),
        import('./signals.ts'),
      ]);
      const instance = await openInstance(
        config,
        tellOutcomes((text) => process.stdout.write(`${text}\n`)),
      );
      try {
        const runs = startRuns(instance, config, {
          result: (result, before) => process.stdout.write(textOfChanges(result, before)),
          failure: (failure) => process.stderr.write(`error ${failure.code}: ${failure.message}\n`),
        });
        const sources = config.sources.map(({ repository }) => repository).join(', ');
        process.stderr.write(`keeping ${config.name} as ${sources} says, at ${config.schedule}\n`);
        await untilSignal();
        await runs.stop();
      } finally {
        await instance.close();
      }
    });
}
