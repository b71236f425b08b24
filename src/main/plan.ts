// `skep plan`: the difference between Git and the cluster; writes nothing.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
  readonly detailedExitcode?: boolean;
}

export function planCommand(): Command {
  return withInstanceFlags(new Command('plan'))
    .description('Show what a sync would change.')
    .addOption(outputOption())
    .option('--detailed-exitcode', 'exit with 2 where changes are pending')
    .addHelpText('after', '\nExample:\n  skep plan -c skep.yaml --detailed-exitcode')
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { planOnly }, { exitCodeOf }, { textOfPlan }, { jsonOfPlan }] = await Promise.all([
        import('./instance.ts'),
        import('../reconcile/reconcile.ts'),
        import('../reconcile/result.ts'),
        import('../report/text.ts'),
        import('../report/json.ts'),
      ]);
      const instance = await openInstance(config, () => undefined);
      try {
        const result = await planOnly(instance.deps, instance.options());
        process.stdout.write(flags.output === 'json' ? jsonOfPlan(result) : textOfPlan(result));
        process.exitCode = exitCodeOf(result, flags.detailedExitcode);
      } finally {
        await instance.close();
      }
    });
}
