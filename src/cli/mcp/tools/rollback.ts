// The tool `rollback` of `skep mcp`: rolls back after the user has confirmed the commits and the changes.

import { openInstance } from '#hosts/reconciler/instance/instance.ts';
import { createStopping } from '#hosts/reconciler/loop/stopping.ts';
import { useOpened } from '#hosts/reconciler/operator/opened.ts';
import { previewRollback, type RollbackPreview, runRollback } from '#hosts/reconciler/operator/rollback.ts';
import { jsonOfRun } from '#reconciler/report/formats/json.ts';
import { OUTPUT_SCHEMAS } from '#reconciler/report/formats/json-schemas.ts';
import { textOfWaiting } from '#reconciler/report/progress.ts';
import { Failure } from '#std/failure.ts';
import { countText } from '#std/words/count-text.ts';
import { boundedSchema, plainLine } from '../bounded.ts';
import { isConfirmed } from '../confirmation.ts';
import {
  type ConfirmationQuestion,
  data,
  inputSchema,
  type McpTool,
  type OperatorToolCall,
  textArgument,
} from '../tool.ts';
import { RUN_ID } from './history.ts';

/** Maximum number of changes in a question, because a person must read all changes. */
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
      const preview = await previewRollback(instance, config, textArgument(args, 'run') ?? '', signal);
      const question = rollbackQuestion(call, preview);
      if (!isConfirmed(question, call)) return question;
      const waiting = (each: Parameters<typeof textOfWaiting>[0]) => progress(textOfWaiting(each));
      // A client may not wait for minutes, so the run does not wait for readiness. `status` shows the readiness later.
      const overrides = { waitSeconds: 0 };
      const result = await runRollback(
        { instance, waiting },
        {
          run: preview.run,
          limit: config.history.limit,
          confirmed: preview.found,
          overrides,
        },
      );
      return data(JSON.parse(jsonOfRun(result)));
    });
  },
};

function rollbackQuestion(
  { config, commandOf }: OperatorToolCall,
  { run: id, at, found, changes }: RollbackPreview,
): ConfirmationQuestion {
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
      ...changes.map(
        ({ action, resource, waits }) => `- ${action} ${resource}${waits === true ? ', after an approval' : ''}`,
      ),
    ]
      .map(plainLine)
      .join('\n'),
    label: 'Roll back',
    command,
    facts: { run: id, commits: Object.fromEntries(found.map(({ source, good }) => [source, good])) },
  };
}
