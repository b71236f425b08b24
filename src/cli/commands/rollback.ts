// `skep rollback`: returns to the commits of an earlier run, until the branches of its sources have newer commits.

import { Command } from 'commander';
import { systemClock } from '#hosts/clock.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import type { Instance } from '#hosts/reconciler/instance/instance.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { createReminder, type ReportWaiting } from '#reconciler/run/waiting.ts';
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
      const [{ openInstance }, { runAndTell }] = await Promise.all([
        import('#hosts/reconciler/instance/instance.ts'),
        import('#hosts/reconciler/instance/one-run.ts'),
      ]);
      if (run === undefined) return clear(await openInstance(config, () => undefined), flags);
      await runAndTell(
        flags,
        (progress, watch) => openInstance(config, progress, watch, undefined, { once: true }),
        (instance, waiting) => goBack({ instance, waiting }, run, config.history.limit),
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

interface RollbackDeps {
  readonly instance: Instance;
  readonly waiting: ReportWaiting;
}

async function goBack({ instance, waiting }: RollbackDeps, start: string, limit: number): Promise<RunResult> {
  const [{ findRun }, { learnOlder, quarantine }] = await Promise.all([
    import('#reconciler/run/history/find.ts'),
    import('#reconciler/run/operate/rollback.ts'),
  ]);
  const { deps } = instance;
  const home = instance.options();
  const history = await instance.history.latest(limit);
  const made = await quarantine(deps, home, findRun(history, start), history);
  const result = await runWhenFree({ instance, waiting });
  const unknown = await learnOlder(deps, home, made).catch(unlessFailure);
  return { ...result, warnings: [...result.warnings, ...unknown.map(historyUnknown)] };
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;

/** Waits for the current run, which may still apply commits that are no longer in use, and runs after it. */
async function runWhenFree({ instance, waiting }: RollbackDeps): Promise<RunResult> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  const remind = createReminder(systemClock, waiting);
  for (;;) {
    try {
      return await instance.run();
    } catch (error) {
      const leftMs = deadline - systemClock.monotonic();
      if (!(error instanceof Failure) || error.code !== 'locked' || leftMs <= 0) throw error;
      remind({ for: 'lease', holder: String(error.data.holder), leftMs });
    }
    await systemClock.sleep(PAUSE_MS);
  }
}

function unlessFailure(error: unknown): readonly Failure[] {
  if (error instanceof Failure) return [error];
  throw error;
}

function historyUnknown(cause: Failure): Failure {
  const message = `the history before the replaced commit is unknown: ${cause.message} [${cause.code}]`;
  return new Failure('rollback-history-unknown', message, { cause });
}
