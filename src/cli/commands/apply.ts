// `skep apply`: makes exactly the changes in a plan file, or explains why a change is not made.

import { Command } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import {
  findPauseNow,
  ignoreWindowsOption,
  PAUSED_HELP,
  type WindowFlags,
} from '#hosts/reconciler/instance/paused-now.ts';

interface Options extends InstanceFlags, WindowFlags {
  readonly output: 'text' | 'json';
}

export function applyCommand(): Command {
  return withInstanceFlags(new Command('apply'))
    .description('Carry out a plan file: exactly its changes, as far as the cluster is still as planned.')
    .argument('<planfile>', 'as `skep plan --out` wrote it')
    .addOption(outputOption())
    .addOption(ignoreWindowsOption())
    .addHelpText(
      'after',
      '\nIf plans.keys is set, a signature next to the file (<planfile>.sig) must be by one of them:\n' +
        '  ssh-keygen -Y sign -n skep-plan -f <key> <planfile>\n' +
        '\nReads the commits of the plan again. If the plan is not signed, its branches must name these commits, or a run must have\nread them before. Objects that have changed in the cluster since are' +
        '\nnamed and kept unchanged, with all objects that depend on them; then nothing is deleted either.\n' +
        PAUSED_HELP +
        '\nExamples:\n  skep apply fleet.plan -c skep.yaml\n  skep plan --out fleet.plan && skep apply fleet.plan',
    )
    .action(async (planFile: string, flags: Options) => {
      const config = await loadConfig(flags);
      const [{ openInstance }, files, { applyPlanFile }, { runAndTell }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/plan-files.ts'),
        import('#reconciler/run/operate/apply-plan-file.ts'),
        import('#hosts/reconciler/instance/one-run.ts'),
      ]);
      const { plan, isSigned } = await files.readPlanFile(planFile, config, systemClock.now());
      await runAndTell(
        flags,
        (progress, watch) =>
          openInstance(config, progress, watch, { commits: files.commitsOf(plan), isSigned }, { once: true }),
        async (instance) => {
          const here = await files.readBinding(config, instance.deps.cluster, instance.options().homeNamespace);
          return instance.run(await findPauseNow(config, flags), (deps, options) =>
            applyPlanFile(deps, options, plan, here),
          );
        },
      );
    });
}
