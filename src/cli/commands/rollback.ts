// `skep rollback`: returns to the commits of an earlier run, until the refs of the sources name newer commits.

import { Command } from 'commander';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import type { Instance } from '#hosts/reconciler/instance/instance.ts';
import { Failure } from '#std/failure.ts';

interface Options extends InstanceFlags {
  readonly output: 'text' | 'json';
  readonly clear?: true;
  readonly source: readonly string[];
}

export function rollbackCommand(): Command {
  return withInstanceFlags(new Command('rollback'))
    .description('Return to the commits of an earlier run, until the branches of its sources have newer commits.')
    .argument('[run]', 'id of the run, or the beginning of its id (skep history)')
    .option('--clear', 'end a rollback: follow the branches of the sources again')
    .option('--source <name>', 'with --clear: only this source; may be repeated', collectName, [])
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nThe rollback is an ordinary run at the earlier commits, with the same limits of deletions. Until a branch has a newer\n' +
        'commit, its source stays at the earlier commit, also if the branch is reset to an older commit.\n' +
        '\nExamples:\n  skep rollback 5a3f3d10 -c skep.yaml\n  skep rollback --clear',
    )
    .action(async (run: string | undefined, flags: Options) => {
      if ((run === undefined) !== (flags.clear === true))
        throw new Failure(
          'usage',
          'name the run to return to (skep history lists them), or follow newer commits again with --clear',
        );
      const config = await loadConfig(flags);
      const [{ openInstance }, { runAndTell }, { runRollback }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/one-run.ts'),
        import('#hosts/reconciler/operator/rollback.ts'),
      ]);
      if (run === undefined) return clear(await openInstance(config, () => undefined), flags);
      await runAndTell(
        flags,
        (progress, watch) => openInstance(config, progress, watch, undefined, { once: true }),
        (instance, waiting) => runRollback({ instance, waiting }, { run, limit: config.history.limit }),
      );
    });
}

function collectName(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

async function clear(instance: Instance, { output, source }: Options): Promise<void> {
  const { clearQuarantine } = await import('#reconciler/run/records/quarantine.ts');
  try {
    const cleared = await clearQuarantine(instance.deps.cluster, instance.options(), source);
    const text =
      cleared.length === 0
        ? 'nothing changed: no source was rolled back'
        : `the next run follows the branch of ${cleared.join(', ')} again`;
    process.stdout.write(output === 'json' ? `${JSON.stringify({ version: 1, cleared }, null, 2)}\n` : `${text}\n`);
  } finally {
    await instance.close();
  }
}
