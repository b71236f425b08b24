// `skep plan`: shows the difference between Git and the cluster, or between two commits. Writes nothing to the cluster.

import { Command, Option } from 'commander';
import { writeReport } from '#hosts/colour.ts';
import type { Config } from '#hosts/config/config.ts';
import { type InstanceFlags, loadConfig, outputOption, withInstanceFlags } from '#hosts/config/configuration.ts';
import { commandElsewhere, commandOf } from '#hosts/own-command.ts';
import type { Planned } from '#hosts/reconciler/operator/plan.ts';
import type { ReportContext } from '#reconciler/report/context.ts';
import { formatNames, PLAN_FORMATS, type PlanFormat } from '#reconciler/report/formats.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import { quoteWord } from '#std/page/shared/shell-word.ts';
import { reportContext } from '../report-context.ts';

interface Options extends InstanceFlags {
  readonly output: PlanFormat;
  readonly detailedExitcode?: boolean;
  readonly out?: string;
  readonly explain?: boolean;
  readonly details?: boolean;
  readonly against?: string;
  readonly tokenFile?: string;
  readonly source: readonly string[];
  readonly render?: boolean;
  readonly path: readonly string[];
  readonly base?: string;
  readonly head?: string;
}

export function planCommand(): Command {
  return withInstanceFlags(new Command('plan'))
    .description('Show the changes of a sync, or the objects in which two commits differ.')
    .addOption(outputOption(formatNames(PLAN_FORMATS)))
    .option('--detailed-exitcode', 'exit with 2 if changes are pending')
    .option('--explain', 'show for each object why it is, or is not, changed or deleted')
    .option('--details', 'name every object, also children that are counted with their custom resource')
    .option('--out <file>', 'also write the plan to a file, for `skep apply`')
    .option('--against <file|url>', 'plan with a snapshot that runs publish, without access to the cluster')
    .option('--token-file <file>', 'token for the URL of the snapshot')
    .option('--source <name=folder>', 'with --against: read a source from a folder; repeatable', collect, [])
    .addOption(renderOption())
    .option('--path <folder>', 'with --render: folder of manifests to compare; repeatable', collect, [])
    .option('--base <name>', 'with --render: branch, tag or commit to compare with')
    .option('--head <name>', 'with --render: branch, tag or commit that is compared (default: HEAD)')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Options) => {
      if (flags.render === true) return showRendered(flags);
      if (flags.path.length > 0 || flags.base !== undefined || flags.head !== undefined) throw onlyRender();
      const config = await loadConfig(flags);
      const show = (made: Planned): Promise<void> => showPlan(config, flags, made);
      if (flags.against !== undefined) {
        const { planBySnapshot } = await import('#hosts/reconciler/instance/plan-by-snapshot.ts');
        return show(await planBySnapshot(config, { ...flags, against: whole(flags, flags.against) }));
      }
      if (flags.source.length > 0 || flags.tokenFile !== undefined) throw onlyAgainst();
      await planInCluster(config, flags, show);
    });
}

const EXAMPLES = `
Examples:
  skep plan -c skep.yaml --detailed-exitcode
  skep plan -c skep.yaml --explain
  skep plan -c skep.yaml --out fleet.plan
  skep plan --against https://skep.example.com/snapshot --token-file token --source fleet=.
  skep plan --render --path clusters/prod --base main`;

/** Returns the option `--render`. It conflicts with options about an instance or a cluster. */
function renderOption(): Option {
  return new Option('--render', 'compare two commits, without a cluster and without skep.yaml').conflicts([
    ...['config', 'kubeconfig', 'context', 'explain', 'out', 'against', 'tokenFile', 'source'],
  ]);
}

async function showRendered(flags: Options): Promise<void> {
  const { base, head = 'HEAD', path: paths } = flags;
  if (paths.length === 0) throw new Failure('usage', 'name the folder of manifests to compare: --path clusters/prod');
  if (base === undefined) throw new Failure('usage', 'name the branch, tag or commit to compare with: --base main');
  const { planTwoCommits } = await import('#hosts/reconciler/instance/plan-by-rendering.ts');
  await print(flags, await planTwoCommits({ paths, base, head }));
}

async function showPlan(config: Config, flags: Options, made: Planned): Promise<void> {
  const { addImpact } = await import('#hosts/reconciler/operator/plan.ts');
  const why = flags.explain === true ? { explanations: await explanationsOf(made.prepared) } : {};
  await print(flags, { ...(await addImpact(config, made)), ...why });
}

async function print(flags: Options, result: RunResult): Promise<void> {
  const [{ exitCodeOf }, render] = await Promise.all([
    import('#reconciler/run/result.ts'),
    PLAN_FORMATS[flags.output](),
  ]);
  const typed = flags.output === 'text' ? commandOf(flags) : commandElsewhere(flags);
  const context: ReportContext = { ...reportContext(typed), extent: flags.details === true ? 'all' : 'folded' };
  writeReport(flags.output, await render(result, context));
  // A plan ignores the pause of runs. Without `paused`, pending changes lead to exit code 2 only with
  // `--detailed-exitcode`.
  const { paused: _paused, ...free } = result;
  process.exitCode = exitCodeOf(free, flags.detailedExitcode);
}

async function explanationsOf(prepared: Prepared) {
  const { explain } = await import('#reconciler/run/plan/explain.ts');
  return explain(prepared);
}

/** Returns `against`. Throws Failure `usage` with `--out`, because a plan file requires that the cluster was read. */
function whole({ out }: Options, against: string): string {
  if (out === undefined) return against;
  throw new Failure(
    'usage',
    '--out and --against exclude each other: a plan file contains the state of a cluster that was read',
  );
}

function onlyAgainst(): Failure {
  return new Failure('usage', '--source and --token-file need --against');
}

function onlyRender(): Failure {
  return new Failure('usage', '--path, --base and --head need --render');
}

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

async function planInCluster(
  config: Config,
  { out, ...flags }: Options,
  show: (made: Planned) => Promise<void>,
): Promise<void> {
  const { openForPlan, planNow } = await import('#hosts/reconciler/operator/plan.ts');
  const instance = await openForPlan(config);
  try {
    const made = await planNow(instance, config);
    await show(made);
    if (out === undefined) return;
    const { writePlanFile } = await import('#hosts/reconciler/instance/plan-files.ts');
    const { homeNamespace } = instance.options();
    await writePlanFile(out, config, { ...instance.deps, homeNamespace }, made);
    const carryOut = commandOf(flags)(`apply ${quoteWord(out)}`);
    process.stderr.write(`the plan is in ${out}; to carry it out: ${carryOut}\n`);
  } finally {
    await instance.close();
  }
}
