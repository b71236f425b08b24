// `skep plan`: the difference between Git and the cluster; writes nothing.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
  readonly detailedExitcode?: boolean;
  readonly out?: string;
}

export function planCommand(): Command {
  return withInstanceFlags(new Command('plan'))
    .description('Show what a sync would change.')
    .addOption(outputOption())
    .option('--detailed-exitcode', 'exit with 2 where changes are pending')
    .option('--out <file>', 'also write the plan to a file, for `skep apply`')
    .addHelpText(
      'after',
      '\nExamples:\n  skep plan -c skep.yaml --detailed-exitcode\n  skep plan -c skep.yaml --out fleet.plan',
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { planned }, { exitCodeOf }, { textOfPlan }, { jsonOfPlan }] = await Promise.all([
        import('./instance.ts'),
        import('../reconcile/reconcile.ts'),
        import('../reconcile/result.ts'),
        import('../report/text.ts'),
        import('../report/json.ts'),
      ]);
      const instance = await openInstance(config, () => undefined);
      try {
        const made = await planned(instance.deps, instance.options());
        const { result } = made;
        process.stdout.write(flags.output === 'json' ? jsonOfPlan(result) : textOfPlan(result));
        process.exitCode = exitCodeOf(result, flags.detailedExitcode);
        if (flags.out === undefined) return;
        const { writePlanFile } = await import('./plan-files.ts');
        await writePlanFile(flags.out, config, instance, made);
        process.stderr.write(`the plan is in ${flags.out}; to carry it out: skep apply ${flags.out}\n`);
      } finally {
        await instance.close();
      }
    });
}
