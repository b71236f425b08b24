// `skep approve`: allows the deletions that wait for approval.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
}

export function approveCommand(): Command {
  return withInstanceFlags(new Command('approve'))
    .description('Approve waiting deletions: exactly the list that plan and sync show with this hash.')
    .argument('<hash>', 'as the report of the run shows it')
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nThe next run deletes them. If the list has changed by then, it waits for another approval.\n' +
        '\nExample:\n  skep approve 3f1c0b5e9a7d2468 -c skep.yaml',
    )
    .action(async (hash: string, flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openForOperator }, { approve }, { textOfApproval, jsonOfApproval }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#reconciler/run/operate/approve.ts'),
        import('#reconciler/report/approval.ts'),
      ]);
      const instance = await openForOperator(config);
      try {
        const approved = await approve(instance.deps, instance.options(), hash, config.approval.expiresHours);
        process.stdout.write(flags.output === 'json' ? jsonOfApproval(approved) : textOfApproval(approved));
      } finally {
        await instance.close();
      }
    });
}
