// Renders validations and plans as a Markdown comment for a pull request. A hidden marker in the first line identifies
// the comment to update.

import { formatId, type Problem } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import type { Impact } from '../../run/impact/impact.ts';
import type { Explanation } from '../../run/plan/explain.ts';
import type { Change, Plan } from '../../run/plan/plan.ts';
import { type RunResult, refusedChanges } from '../../run/result.ts';
import { countsOf, formatValue, textOfDifference, unpreviewed } from '../change-text.ts';
import { pathInRoot, type ReportContext } from '../context.ts';
import { fateOf, keptOf, nameOfWaiting } from '../deletion-text.ts';
import { linesOfExplanations } from '../explanations.ts';
import { fold } from '../fold.ts';
import { type Notice, noticesOf, restartedIds } from '../impact.ts';
import { bySeverity, countOf, validatedSize } from '../order.ts';
import { earlierLines, textOfCompared, textOfQuarantined, waitLines, whyPaused } from '../text.ts';
import type { ReportedValidation } from '../validation.ts';
import { code, comment, fenced, inline, type Section } from './markdown-text.ts';

export function markdownOfValidation({ summary, problems }: ReportedValidation, context: ReportContext): string {
  const size = validatedSize(summary);
  if (problems.length === 0) return comment('validate', `### ✅ skep validate: no problems\n\n${size}.`, [], context);
  const sign = problems.some(({ severity }) => severity === 'error') ? '❌' : '⚠️';
  const head = `### ${sign} skep validate: ${countOf(problems)}\n\n${size}, ${summary.invalid} invalid.`;
  return comment('validate', head, [{ title: TABLE, items: rows(problems, context) }], context);
}

export function markdownOfPlan(result: RunResult, context: ReportContext): string {
  const { plan, problems, failures } = result;
  const counts = countsOf(plan);
  const refused = refusedChanges(plan);
  const parts = [`${counts.create} to create`, `${counts.update} to update`, `${counts.delete} to delete`];
  const refusals = refused.length === 0 ? '' : `${refused.length} refused`;
  const trouble = [
    refusals,
    countOf(problems),
    failures.length === 0 ? '' : countText(failures.length, 'failure'),
  ].filter((text) => text !== '');
  const wrong = failures.length + refused.length > 0 || problems.some(({ severity }) => severity === 'error');
  const compared = result.rendered === undefined ? '' : `\n\nCompared: ${inline(textOfCompared(result.rendered))}.`;
  const head = `### ${wrong ? '❌ ' : ''}skep plan: ${[...parts, ...trouble].join(', ')}${compared}`;
  const sections = [
    { title: '', items: failures.map((failure) => `- ❌ ${code(failure.code)}: ${inline(failure.message)}`) },
    { title: '', items: linesOfState(result, context) },
    { title: TABLE, items: rows(problems, context) },
    { title: '', items: earlierItems(result, context) },
    { title: '#### ❌ Refused by the API server\n', items: refused.flatMap((change) => refusalOf(change, context)) },
    ...waitingSections(plan, context),
    ...impactSections(result.impact),
    ...changeSections(plan),
    { title: '#### Kept unchanged\n', items: keptItems(plan) },
    { title: '#### Why\n', items: (result.explanations ?? []).map(formatExplanation) },
    {
      title: '#### Not known here\n',
      items: [...unpreviewed(plan).map((line) => `- ${inline(line)}`), ...unknownOf(result)],
    },
  ];
  return comment('plan', head, sections, context, result.rendered?.paths);
}

function linesOfState({ paused, quarantined, waits }: RunResult, { commandOf }: ReportContext): readonly string[] {
  const reported = [
    ...quarantined.map((each) => `- ↩️ ${inline(textOfQuarantined(each, commandOf))}`),
    ...waitLines({ waits }).map((line) => `- ⏳ ${inline(line)}`),
  ];
  return paused === undefined
    ? reported
    : [`- ⏸️ runs write nothing now: ${inline(whyPaused(paused, commandOf))}`, ...reported];
}

function earlierItems({ rendered }: RunResult, { commandOf }: ReportContext): readonly string[] {
  return rendered === undefined ? [] : earlierLines(rendered, commandOf).map((line) => `- ${inline(line)}`);
}

function refusalOf(change: Change, context: ReportContext): string[] {
  if (change.action === 'delete' || change.preview?.result !== 'refused') return [];
  const { preview, resource } = change;
  return [`- ${code(formatId(resource))}: ${inline(preview.message)} ${linkOf(preview.code, context)}`];
}

function deletionItems(deletions: Plan['waiting'][number]['deletions']): readonly string[] {
  return fold(deletions, 'folded').map(
    ({ entry, along }) => `- ${code(entry.id)}${inline(`${along}${fateOf(entry)}`)}`,
  );
}

/** Returns one item per kept object. Children of a listed custom resource are only counted in its item. */
function keptItems({ held, waiting }: Plan): readonly string[] {
  return keptOf({ held, waiting }, 'folded').map(
    ({ entry, along }) => `- ${code(entry.id)}${inline(`${along}: ${entry.reason}`)}`,
  );
}

function waitingSections({ waiting, approved }: Plan, { commandOf }: ReportContext): readonly Section[] {
  return [
    ...waiting.map(({ source, reasons, hash, deletions }) => ({
      title: `#### 🛑 Waits for approval: ${inline(nameOfWaiting({ source, deletions }))}\n\n${inline(reasons.join('; '))}. ${deletions.length === 0 ? 'To write them' : 'To delete exactly these'}: ${code(commandOf(`approve ${hash}`))}\n`,
      // The section must have an item, because a section without items is left out.
      items: deletions.length === 0 ? ['- everything in this plan'] : deletionItems(deletions),
    })),
    {
      title: '#### Deletions that would wait are approved\n',
      items: approved.map(({ reasons, approval }) => `- until ${approval.expiresAt}: ${inline(reasons.join('; '))}`),
    },
  ];
}

function changeSections({ batches }: Plan): readonly Section[] {
  const changes = batches.flatMap((batch) => batch.changes);
  const updates = changes.filter(({ action }) => action === 'update');
  const named = (action: Change['action']) =>
    changes.filter((change) => change.action === action).map(({ resource }) => `- ${code(formatId(resource))}`);
  return [
    { title: '#### Deletes\n', items: named('delete') },
    { title: '#### Replaces: deleted and created again\n', items: updates.filter(isReplaced).map(updated) },
    { title: '#### Updates\n', items: updates.filter((change) => !isReplaced(change)).map(updated) },
    { title: '#### Creates\n', items: named('create') },
  ];
}

function isReplaced(change: Change): boolean {
  return change.action === 'update' && change.replaces === true;
}

function formatExplanation(explanation: Explanation): string {
  const [head = '', ...reasons] = linesOfExplanations([explanation]);
  return [`- ${inline(head)}`, ...reasons.map((line) => `  - ${inline(line.trim())}`)].join('\n');
}

function impactSections(impact: Impact | undefined): readonly Section[] {
  if (impact === undefined) return [];
  return [
    { title: '#### What clients notice\n', items: noticesOf(impact).map(noticed) },
    { title: '#### Pods that are replaced\n', items: restartedIds(impact).map((id) => `- ${code(id)}`) },
  ];
}

const SIGNS = { appears: '➕', disappears: '➖', changes: '✏️' } as const;

function noticed({ action, id, lines }: Notice): string {
  return [`- ${SIGNS[action]} ${code(id)}`, ...lines.map((line) => `  - ${inline(line)}`)].join('\n');
}

/** Lists facts that a plan without a cluster cannot determine. */
function unknownOf({ against, rendered }: RunResult): readonly string[] {
  if (rendered !== undefined) return rendered.unknown.map((sentence) => `- ${inline(sentence)}`);
  if (against === undefined) return [];
  const since = `- changes since the snapshot of ${against.createdAt}`;
  return [since, ...against.unknown.map((sentence) => `- ${inline(sentence)}`)];
}

const TABLE = '| | where | what |\n|---|---|---|';

function rows(problems: readonly Problem[], context: ReportContext): readonly string[] {
  return bySeverity(problems).map((problem) => {
    const { severity, message, resource } = problem;
    const whose = resource === undefined ? '' : `${code(formatId(resource))}: `;
    const why = linkOf(problem.code, context);
    return `| ${severity === 'error' ? '❌' : '⚠️'} | ${where(problem, context)} | ${whose}${inline(message)} ${why} |`;
  });
}

function linkOf(problem: string, { helpUri }: ReportContext): string {
  return `[${code(problem)}](${helpUri(problem)})`;
}

function where({ place }: Problem, context: ReportContext): string {
  if (place === undefined) return '';
  const file = pathInRoot(place.file, context);
  const text = code(`${file ?? place.file}:${place.line}`);
  if (file === undefined || context.linkTo === undefined) return text;
  return `[${text}](${context.linkTo({ ...place, file })})`;
}

function updated({ resource, diff }: Change): string {
  const lines = diff.flatMap(diffLines);
  const head = `- ${code(formatId(resource))}`;
  return lines.length === 0 ? head : `${head}\n\n${fenced(lines)}\n`;
}

/** Moves the sign to the first column, because code hosts colour a line by the sign there. */
function diffLines(difference: Change['diff'][number]): readonly string[] {
  const { path, before, after } = difference;
  if (before === undefined) return [`+ ${path}: ${formatValue(after)}`];
  if (after === undefined) return [`- ${path}: ${formatValue(before)}`];
  const [head = '', ...hunks] = textOfDifference(difference);
  return [`! ${head.trim()}`, ...hunks.map((line) => line.slice(HUNK_INDENT))];
}

/** Number of spaces before each line of a long value in `textOfDifference`. */
const HUNK_INDENT = 8;
