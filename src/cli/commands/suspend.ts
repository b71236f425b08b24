// `skep suspend`: stops all runs of the instance from writing until `skep resume`.

import { hostname, userInfo } from 'node:os';
import { Command } from 'commander';
import { type InstanceFlags, loadConfig, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandOf } from '#hosts/own-command.ts';

interface Options extends InstanceFlags {
  readonly reason?: string;
}

export function suspendCommand(): Command {
  return withInstanceFlags(new Command('suspend'))
    .description('Keep all runs of the instance from writing until skep resume.')
    .option('--reason <text>', 'reason, for people who find the instance suspended')
    .addHelpText(
      'after',
      '\nRuns still read Git and the cluster and report pending changes. A run in progress starts no further change.\n' +
        '\nExample:\n  skep suspend -c skep.yaml --reason "moving the database, until 14:00"',
    )
    .action(async ({ reason, ...flags }: Options) => {
      const config = await loadConfig(flags);
      const [{ openForOperator }, { suspend }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#reconciler/run/records/suspension.ts'),
      ]);
      const instance = await openForOperator(config);
      try {
        const who = `${userInfo().username}@${hostname()}`;
        const { since } = await suspend(instance.deps, instance.options(), { who, reason });
        process.stdout.write(
          `${config.name} is suspended since ${since}: runs report pending changes, and write nothing; to end that: ${commandOf(flags)('resume')}\n`,
        );
      } finally {
        await instance.close();
      }
    });
}
