// Validations and plans as Markdown for a comment on a pull request. A hidden marker in the first line says which comment
// to update. Knows nothing about who posts it.

import type { Impact } from '../reconcile/impact/impact.ts';
import type { Change } from '../reconcile/plan.ts';
import type { RunResult } from '../reconcile/result.ts';
import { formatId, type Problem } from '../std/problem.ts';
import { pathInRoot, type ReportContext } from './context.ts';
import { type Notice, noticesOf, restartedIds } from './impact.ts';
import { code, comment, fenced, inline, type Section } from './markdown-text.ts';
import { bySeverity, counted, countOf } from './order.ts';
import { countsOf, fateOf, textOfDifference } from './text.ts';
import type { ReportedValidation } from './validation.ts';

export function markdownOfValidation({ summary, problems }: ReportedValidation, context: ReportContext): string {
  const size = `${summary.resources} resources in ${summary.files} files`;
  if (problems.length === 0) return comment('validate', `### ✅ skep validate: no problems\n\n${size}.`, [], context);
  const sign = problems.some(({ severity }) => severity === 'error') ? '❌' : '⚠️';
  const head = `### ${sign} skep validate: ${countOf(problems)}\n\n${size}, ${summary.invalid} invalid.`;
  return comment('validate', head, [{ title: TABLE, items: rows(problems, context) }], context);
}

export function markdownOfPlan(result: RunResult, context: ReportContext): string {
  const { plan, problems, failures } = result;
  const counts = countsOf(plan);
  const parts = [`${counts.create} to create`, `${counts.update} to update`, `${counts.delete} to delete`];
  const trouble = [countOf(problems), counted(failures.length, 'failure')].filter((text) => text !== '');
  const sign = failures.length > 0 || problems.some(({ severity }) => severity === 'error') ? '❌ ' : '';
  const head = `### ${sign}skep plan: ${[...parts, ...trouble].join(', ')}`;
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const { guarded } = plan;
  const sections = [
    { title: '', items: failures.map((failure) => `- ❌ ${code(failure.code)}: ${inline(failure.message)}`) },
    { title: TABLE, items: rows(problems, context) },
    {
      title: `#### 🛑 Waits for approval\n\n${inline(guarded?.reasons.join('; ') ?? '')}. To let exactly these go: ${code(`skep approve ${guarded?.hash}`)}\n`,
      items: (guarded?.deletions ?? []).map((each) => `- ${code(each.id)}${fateOf(each)}`),
    },
    ...impactSections(result.impact),
    {
      title: '#### Deletes\n',
      items: ofAction(changes, 'delete').map(({ resource }) => `- ${code(formatId(resource))}`),
    },
    { title: '#### Updates\n', items: ofAction(changes, 'update').map(updated) },
    {
      title: '#### Creates\n',
      items: ofAction(changes, 'create').map(({ resource }) => `- ${code(formatId(resource))}`),
    },
    {
      title: '#### Stays as it lives\n',
      items: plan.held.map(({ resource, reason }) => `- ${code(formatId(resource))}: ${inline(reason)}`),
    },
    { title: '#### Not known here\n', items: unknownOf(result) },
  ];
  return comment('plan', head, sections, context);
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

/** Of a plan by a snapshot. */
function unknownOf({ against }: RunResult): readonly string[] {
  if (against === undefined) return [];
  const since = `- what happened since the snapshot of ${against.createdAt}`;
  return [since, ...against.unknown.map((sentence) => `- ${inline(sentence)}`)];
}

const TABLE = '| | where | what |\n|---|---|---|';

function rows(problems: readonly Problem[], context: ReportContext): readonly string[] {
  return bySeverity(problems).map((problem) => {
    const { severity, message, resource } = problem;
    const whose = resource === undefined ? '' : `${code(formatId(resource))}: `;
    const why = `[${code(problem.code)}](${context.helpUri(problem.code)})`;
    return `| ${severity === 'error' ? '❌' : '⚠️'} | ${where(problem, context)} | ${whose}${inline(message)} ${why} |`;
  });
}

function where({ place }: Problem, context: ReportContext): string {
  if (place === undefined) return '';
  const file = pathInRoot(place.file, context);
  const text = code(`${file ?? place.file}:${place.line}`);
  if (file === undefined || context.linkTo === undefined) return text;
  return `[${text}](${context.linkTo({ ...place, file })})`;
}

function ofAction(changes: readonly Change[], action: Change['action']): readonly Change[] {
  return changes.filter((change) => change.action === action);
}

function updated({ resource, diff }: Change): string {
  const lines = diff.flatMap((difference) => textOfDifference(difference)).map((line) => line.replace(/^ {6}/, ''));
  const head = `- ${code(formatId(resource))}`;
  return lines.length === 0 ? head : `${head}\n\n${fenced(lines)}\n`;
}
