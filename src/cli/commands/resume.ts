// `skep resume`: lets runs of the instance write again.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from '#hosts/config/configuration.ts';

export function resumeCommand(): Command {
  return withInstanceFlags(new Command('resume'))
    .description('Let runs of the instance write again, after skep suspend.')
    .addHelpText('after', '\nExample:\n  skep resume -c skep.yaml')
    .action(async (flags: InstanceFlags) => {
      const config = await loadConfig(flags);
      const [{ openForOperator }, { resume }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#reconciler/run/records/suspension.ts'),
      ]);
      const instance = await openForOperator(config);
      try {
        const ended = await resume(instance.deps, instance.options());
        const was = ended === undefined ? '' : ` (it was suspended by ${ended.who} since ${ended.since})`;
        process.stdout.write(
          ended === undefined
            ? `${config.name} was not suspended: nothing changed\n`
            : `${config.name} is resumed, and its next run writes again${was}\n`,
        );
      } finally {
        await instance.close();
      }
    });
}
