// `skep resume`: runs of the instance write again.

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
        const was = ended === undefined ? '' : ` (suspended by ${ended.who} since ${ended.since})`;
        process.stdout.write(`${config.name} is ${ended === undefined ? 'not suspended' : 'resumed'}${was}\n`);
      } finally {
        await instance.close();
      }
    });
}
