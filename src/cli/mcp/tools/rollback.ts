// The tool `rollback` of `skep mcp`: rolls back after the user has confirmed the commits and the changes.

import type { Config } from '#hosts/config/config.ts';
import { openInstance } from '#hosts/reconciler/instance/instance.ts';
import { createStopping } from '#hosts/reconciler/loop/stopping.ts';
import { openForPlan, planNow } from '#hosts/reconciler/operator/plan.ts';
import { runRollback } from '#hosts/reconciler/operator/rollback.ts';
import { jsonOfRun } from '#reconciler/report/formats/json.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import { textOfWaiting } from '#reconciler/report/progress.ts';
import { findRun } from '#reconciler/run/history/find.ts';
import { findDifferences } from '#reconciler/run/operate/rollback.ts';
import type { Quarantined } from '#reconciler/run/records/quarantine.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import { boundedSchema, plainLine } from '../bounded.ts';
import { isConfirmed } from '../confirmation.ts';
import { useOpened } from '../opened.ts';
import { data, inputSchema, type McpTool, type Question, type ToolCall, textArgument } from '../tool.ts';
import { RUN_ID } from './history.ts';

/** Maximum number of changes in a question, because a person must read all of them. */
const CHANGES_MAX = 100;

export const ROLLBACK: McpTool = {
  name: 'rollback',
  title: 'Roll back to a run',
  description:
    'Goes back to the commits of an earlier run, by its id from `history`, and makes a run with the usual limits of deletions. The user is asked to confirm the commits and the changes first; without that nothing happens.',
  inputSchema: inputSchema({ run: RUN_ID }, ['run']),
  outputSchema: boundedSchema(OUTPUT_SCHEMAS.sync),
  acts: { destructive: true },
  call(call) {
    const { config, args, signal, progress } = call;
    const stopping = createStopping();
    signal.addEventListener('abort', stopping.stop, { once: true });
    const opening = openInstance(config, () => undefined, { stopping }, undefined, { once: true });
    // If the call is cancelled, the run ends as after Ctrl-C. The instance stays open until the run has ended.
    return useOpened(opening, async (instance) => {
      const limit = config.history.limit;
      const history = await instance.history.latest(limit);
      const run = findRun(history, textArgument(args, 'run') ?? '');
      const found = await findDifferences(instance.deps, run, history);
      const changes = await previewOf(config, run.commits, signal);
      const question = rollbackQuestion(call, { id: run.id, at: run.finishedAt, found, changes });
      if (!isConfirmed(question, call)) return question;
      const waiting = (each: Parameters<typeof textOfWaiting>[0]) => progress(textOfWaiting(each));
      // A client may not wait for minutes, so the run does not wait for readiness. `status` shows the readiness later.
      const overrides = { waitSeconds: 0 };
      const result = await runRollback({ instance, waiting }, { run: run.id, limit, confirmed: found, overrides });
      return data(JSON.parse(jsonOfRun(result)));
    });
  },
};

/** Plans the run after the rollback, and returns one line per change. */
async function previewOf(
  config: Config,
  commits: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const opening = openForPlan(config, { commits: new Map(Object.entries(commits)), isSigned: false });
  return useOpened(
    opening,
    async (instance) => {
      const { result } = await planNow(instance, config);
      const [failure] = result.failures;
      if (failure !== undefined) throw failure;
      const { batches, waiting } = result.plan;
      return [
        ...batches.flatMap(({ changes }) => changes.map(({ action, resource }) => `- ${action} ${formatId(resource)}`)),
        ...waiting.flatMap(({ deletions }) => deletions.map(({ id }) => `- delete ${id}, after an approval`)),
      ];
    },
    signal,
  );
}

interface Rollback {
  readonly id: string;
  readonly at: string;
  readonly found: readonly Quarantined[];
  readonly changes: readonly string[];
}

function rollbackQuestion({ config, commandOf }: ToolCall, { id, at, found, changes }: Rollback): Question {
  const command = commandOf(`rollback ${id.slice(0, 8)}`);
  if (changes.length > CHANGES_MAX) {
    const message = `the rollback changes ${countText(changes.length, 'object')}`;
    throw new Failure('mcp-confirmation-too-long', message, { data: { command } });
  }
  const commits = found.map(({ source, good, bad }) => `- source ${source}: from commit ${bad} to ${good}`);
  return {
    type: 'question',
    message: [
      `${config.name} goes back to run ${id}, which ended at ${at}, and stays there until newer commits come:`,
      ...(commits.length === 0 ? ['- no source has another commit'] : commits),
      changes.length === 0 ? 'No object changes.' : `Changes of ${countText(changes.length, 'object')}:`,
      ...changes,
    ]
      .map(plainLine)
      .join('\n'),
    label: 'Roll back',
    command,
    facts: { run: id, commits: Object.fromEntries(found.map(({ source, good }) => [source, good])) },
  };
}
