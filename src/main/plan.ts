// `skep plan`: the difference between Git and the cluster; writes nothing.

import { Command } from 'commander';
import type { Prepared } from '../reconcile/prepare.ts';
import { formatNames, PLAN_FORMATS, type PlanFormat } from '../report/formats.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from './configuration.ts';
import { reportContext } from './report-context.ts';

interface Options extends InstanceFlags {
  readonly output: PlanFormat;
  readonly detailedExitcode?: boolean;
  readonly out?: string;
  readonly explain?: boolean;
}

export function planCommand(): Command {
  return withInstanceFlags(new Command('plan'))
    .description('Show what a sync would change.')
    .addOption(outputOption(formatNames(PLAN_FORMATS)))
    .option('--detailed-exitcode', 'exit with 2 where changes are pending')
    .option('--explain', 'say of each object why it is, or is not, changed or deleted')
    .option('--out <file>', 'also write the plan to a file, for `skep apply`')
    .addHelpText(
      'after',
      '\nExamples:\n  skep plan -c skep.yaml --detailed-exitcode\n  skep plan -c skep.yaml --explain\n  skep plan -c skep.yaml --out fleet.plan',
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, { planned }, { exitCodeOf }, render] = await Promise.all([
        import('./instance.ts'),
        import('../reconcile/reconcile.ts'),
        import('../reconcile/result.ts'),
        PLAN_FORMATS[flags.output](),
      ]);
      const instance = await openInstance(config, () => undefined);
      try {
        const made = await planned(instance.deps, instance.options());
        const { result } = made;
        const explained =
          flags.explain === true ? { ...result, explanations: await explanationsOf(made.prepared) } : result;
        process.stdout.write(await render(explained, reportContext()));
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

async function explanationsOf(prepared: Prepared) {
  const { explain } = await import('../reconcile/explain.ts');
  return explain(prepared);
}
