// The tool `approve` of `skep mcp`: approves a list of deletions after the user has confirmed exactly this list.

import { jsonOfApproval } from '#reconciler/report/approval.ts';
import { listOf, record, TEXT, TIME } from '#reconciler/report/formats/json-schema-parts.ts';
import { approveList, findWaitingList } from '#reconciler/run/operate/approve.ts';
import type { DeletionList } from '#reconciler/run/prune/guard.ts';
import { Failure } from '#std/failure.ts';
import { countText } from '#std/words/count-text.ts';
import { boundedSchema, plainLine } from '../bounded.ts';
import { isConfirmed } from '../confirmation.ts';
import { withInstance } from '../opened.ts';
import { type ConfirmationQuestion, data, inputSchema, type McpTool, textArgument } from '../tool.ts';

/**
 * Maximum number of lines of a question, because a person must read all lines. Each deleted object has one line,
 * including objects that are deleted with another object.
 */
const LINES_MAX = 100;

export const APPROVE: McpTool = {
  name: 'approve',
  title: 'Approve deletions',
  description:
    'Approves a list of deletions that waits, by its hash from `plan` or `status`. The user is asked to confirm the exact list first; without that nothing happens. The next run deletes the objects.',
  inputSchema: inputSchema(
    { hash: { type: 'string', pattern: '^[0-9a-f]{8,64}$', description: 'Hash of the list that waits.' } },
    ['hash'],
  ),
  outputSchema: boundedSchema(
    record({
      version: { const: 1 },
      approved: record({ source: TEXT, hash: TEXT, expiresAt: TIME, deletions: listOf({ type: 'object' }) }),
    }),
  ),
  acts: { destructive: true },
  call: ({ config, args, signal, confirmed, commandOf }) =>
    withInstance(config, signal, async ({ deps, options }) => {
      const hash = textArgument(args, 'hash') ?? '';
      const chosen = options();
      const list = await findWaitingList(deps, chosen, hash);
      const question = approvalQuestion(config.name, list, commandOf(`approve ${hash}`));
      if (!isConfirmed(question, { confirmed, signal })) return question;
      // Approves the list that the user was shown. The list of a later plan may have the same hash but a different
      // `mayTake`.
      const approved = await approveList(deps, chosen, list, config.approval.expiresHours);
      return data(JSON.parse(jsonOfApproval(approved)));
    }),
};

/** Returns the question. Throws Failure `mcp-confirmation-too-long` for a list with too many lines. */
export function approvalQuestion(instance: string, list: DeletionList, command: string): ConfirmationQuestion {
  const { source, hash, deletions, reasons } = list;
  const count = countText(deletions.length, 'object');
  const lines = deletions.flatMap(deletionLines);
  if (deletions.length === 0 || lines.length > LINES_MAX) {
    const reason =
      deletions.length === 0
        ? 'this approval stands for all changes of a first run'
        : `the list has ${countText(lines.length, 'line')}`;
    throw new Failure('mcp-confirmation-too-long', reason, { data: { command } });
  }
  const of = source === '' ? '' : ` of source ${plainLine(source)}`;
  return {
    type: 'question',
    message: [
      `The next run of ${plainLine(instance)} deletes exactly ${deletions.length === 1 ? 'this object' : `these ${count}`}${of}:`,
      ...lines,
      `They wait because: ${reasons.map(plainLine).join('; ')}`,
    ].join('\n'),
    label: `Delete ${count}`,
    command,
    facts: { hash, source, deletions: deletions.map(({ id }) => id) },
  };
}

/** Returns one line per object, because a long line would be cut. */
function deletionLines({
  id,
  replaced,
  takes = [],
  mayTake = [],
}: DeletionList['deletions'][number]): readonly string[] {
  return [
    `- ${plainLine(id)}${replaced === true ? '; and created again' : ''}`,
    ...takes.map((each) => `  also deletes ${plainLine(each)}`),
    ...mayTake.map((kind) => `  also deletes objects of a kind that may not be listed: ${plainLine(kind)}`),
  ];
}
