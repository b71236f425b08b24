// `skep adopt`: takes over a fleet from ToolHive's operator.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandOf } from '#hosts/own-command.ts';
import { Failure } from '#std/failure.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
  readonly yes?: boolean;
}

export function adoptCommand(): Command {
  return withInstanceFlags(new Command('adopt'))
    .description("Take a fleet over from ToolHive's operator: show the changes, and with --yes make them.")
    .addOption(outputOption())
    .option('--yes', 'make the changes')
    .addHelpText(
      'after',
      "\nFinalizers of ToolHive's operator are removed, the objects that it created get their custom resource as owner, and the fields that it\n" +
        'wrote belong to skep afterwards. No object is deleted and no pod restarts: the next sync changes the fleet to the state in Git.\n' +
        '\nExamples:\n  skep adopt -c skep.yaml\n  skep adopt -c skep.yaml --yes && skep plan -c skep.yaml',
    )
    .action(async (flags: Options) => {
      const config = await loadConfig(flags);
      if (flags.yes === true && config.plans.require === 'signed') throw unsigned();
      const [{ openInstance }, { watchSources }, { adopt }, { textOfAdoption, jsonOfAdoption }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/watch.ts'),
        import('#reconciler/run/operate/adopt.ts'),
        import('#reconciler/report/adoption.ts'),
      ]);
      const instance = await openInstance(config, () => undefined, watchSources(), undefined, {
        endsWithinMs: config.apply.deadlineSeconds * 1000,
      });
      try {
        const result = await adopt(instance.deps, instance.options(), flags.yes === true);
        process.stdout.write(
          flags.output === 'json' ? jsonOfAdoption(result) : textOfAdoption(result, commandOf(flags)),
        );
        const invalid = result.problems.some(({ severity }) => severity === 'error');
        process.exitCode = result.failures.length > 0 ? 1 : invalid ? 3 : 0;
      } finally {
        await instance.close();
      }
    });
}

/** Returns the Failure if skep.yaml requires signed plans: a plan file cannot contain the changes of `adopt`. */
function unsigned(): Failure {
  const message =
    'plans.require is signed, and a plan file cannot contain the changes of adopt --yes: set it to unsigned for the adoption, and back afterwards';
  return new Failure('plan-required', message);
}
