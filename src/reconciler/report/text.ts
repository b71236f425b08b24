// Renders plans, runs and validations as lines for people.

import { quoteWord } from '#std/page/shared/shell-word.ts';
import { formatId, formatProblem, type ResourceId } from '#std/problem.ts';
import { type CommandOf, INSTALLED } from '#std/words/command-of.ts';
import { countText } from '#std/words/count-text.ts';
import { textOfWait } from '#std/words/wait-text.ts';
import type { ChangeOutcome } from '../run/apply/apply.ts';
import type { CatalogueOutcome } from '../run/catalogue/registries.ts';
import type { Rendered } from '../run/render/rendered.ts';
import { type Paused, type RunResult, summaryOf } from '../run/result.ts';
import type { ManifestValidation } from '../run/validate.ts';
import { countsOf, several, textOfChange, unpreviewed } from './change-text.ts';
import type { Style } from './command.ts';
import { approvedLines, guardLines, heldLines } from './deletion-text.ts';
import { linesOfExplanations } from './explanations.ts';
import { failureLines } from './failure-text.ts';
import { textOfImpact } from './impact.ts';
import { problemsWithout, validatedSize } from './order.ts';
import { linesOfNotReady } from './progress.ts';
import { visible, visibleLines } from './visible.ts';

export function textOfValidation(validation: ManifestValidation): string {
  return visibleLines([...validation.problems.map(formatProblem), summaryLine(validation)]);
}

/** Returns a line with the counts of a validation and its result. */
export function summaryLine({ summary, problems, incomplete }: ManifestValidation): string {
  const { files, invalid } = summary;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const more = warnings === 0 ? '' : `, ${countText(warnings, 'warning')}`;
  const headline =
    files === 0 && errors === 0 ? 'nothing to validate' : `${validationHeadline(invalid, errors)}${more}`;
  const later = incomplete === true ? '; correct these errors first, then rules and policies are checked as well' : '';
  return `${validatedSize(summary)}: ${headline}${later}`;
}

/** Returns the result in a few words. An unidentified document has errors, but is not an invalid resource. */
function validationHeadline(invalid: number, errors: number): string {
  if (invalid > 0) return `${invalid} invalid`;
  return errors === 0 ? 'all valid' : countText(errors, 'error');
}

export function textOfPlan(
  result: RunResult,
  { extent = 'folded', commandOf = INSTALLED }: Partial<Style> = {},
): string {
  const style = { extent, commandOf };
  const { plan } = result;
  const changes = plan.batches.flatMap((batch) => [`${batch.name}:`, ...batch.changes.flatMap(textOfChange)]);
  const counts = countsOf(plan);
  const total = `${counts.create} to create, ${counts.update} to update, ${counts.delete} to delete, ${plan.unchanged.length} unchanged, ${plan.held.length} held`;
  const deletions = [...approvedLines(plan), ...guardLines(approvable(result), style), ...heldLines(plan, style)];
  const why = linesOfExplanations(result.explanations ?? []);
  const impact = result.impact === undefined ? [] : textOfImpact(result.impact, style);
  const { paused } = result;
  const notNow = paused === undefined ? [] : [`runs write nothing now: ${whyPaused(paused, commandOf)}`];
  const more = [
    ...unpreviewed(plan),
    ...trouble(result, commandOf),
    ...waitLines(result),
    ...deletions,
    ...impact,
    ...againstLines(result),
    ...renderedLines(result, commandOf),
    ...notNow,
  ];
  return visibleLines([...changes, ...why, ...more, total]);
}

/** Describes the snapshot of a plan, and the facts that are unknown without a cluster. */
function againstLines({ against }: RunResult): string[] {
  if (against === undefined) return [];
  const commits = Object.entries(against.commits).map(([source, commit]) => `${source} at ${commit.slice(0, 12)}`);
  return [
    `by the snapshot of ${against.createdAt} (${commits.join(', ')}); later changes are not known`,
    ...against.unknown.map((sentence) => `not known here: ${sentence}`),
  ];
}

/** Describes the compared commits, and the facts that a comparison cannot determine. */
function renderedLines({ rendered }: RunResult, commandOf: CommandOf): string[] {
  if (rendered === undefined) return [];
  return [
    `compared: ${textOfCompared(rendered)}`,
    ...earlierLines(rendered, commandOf),
    ...rendered.unknown.map((sentence) => `not known here: ${sentence}`),
  ];
}

/** Returns a text such as `clusters/prod of HEAD (4d5e6f708192) with main (1a2b3c4d5e6f)`. */
export function textOfCompared({ paths, base, head }: Rendered): string {
  const [of, other] = [head, base].map(({ name, commit }) => {
    const short = commit.slice(0, 12);
    return name === commit ? short : `${name} (${short})`;
  });
  const folders = paths.map((path) => (path === '' ? 'all folders' : path)).join(', ');
  return `${folders} of ${of} with ${other}`;
}

/** Returns a line with the number of problems that the base also has; empty if that number is 0. */
export function earlierLines({ earlierProblems, paths }: Rendered, commandOf: CommandOf): string[] {
  if (earlierProblems === 0) return [];
  const command = commandOf(`validate ${paths.map((path) => quoteWord(path === '' ? '.' : path)).join(' ')}`);
  const what = countText(earlierProblems, 'problem of an unchanged object is', 'problems of unchanged objects are');
  return [`${what} not listed, as the base has the same; to see all problems: ${command}`];
}

export function textOfRun(result: RunResult): string {
  return visibleLines(result.outcomes.map(textOfOutcome)) + textOfEnding(result, INSTALLED);
}

/**
 * Returns the report of a run without its outcomes, which are already printed. Warnings that are in `known` are only
 * counted.
 */
export function textOfEnding(result: RunResult, commandOf: CommandOf, known: RunResult['problems'] = []): string {
  const catalogue = catalogueLines(result.catalogue);
  const { plan } = result;
  const fresh = new Set(problemsWithout(result.problems, known));
  const problems = result.problems.filter((each) => each.severity === 'error' || fresh.has(each));
  const repeated = result.problems.length - problems.length;
  const style = { extent: 'folded', commandOf } as const;
  return visibleLines([
    ...catalogue,
    ...trouble({ ...result, problems }, commandOf),
    ...waitLines(result),
    ...(repeated === 0 ? [] : [`${countText(repeated, 'warning')} as before`]),
    ...approvedLines(plan),
    ...guardLines(approvable(result), style),
    ...heldLines(plan, style),
    ...waiting(result),
    ...pausedLines(result, commandOf),
    total(result),
  ]);
}

/**
 * Returns the waiting lists to show. If a source could not be read, its URL may be wrong, so the list that stands for
 * all changes is left out.
 */
function approvable({ plan, failures }: RunResult): Pick<RunResult['plan'], 'waiting'> {
  const { waiting } = plan;
  const isUnread = failures.some(({ code }) => /^(git|source)-/.test(code));
  return { waiting: isUnread ? waiting.filter(({ deletions }) => deletions.length > 0) : waiting };
}

/** Returns why the run wrote nothing, and the number of pending changes. */
export function pausedLines({ paused, plan }: RunResult, commandOf: CommandOf): string[] {
  if (paused === undefined) return [];
  const { create, update, delete: deletions } = countsOf(plan);
  const pending = `${create} to create, ${update} to update, ${deletions} to delete`;
  return [
    `nothing is written: ${whyPaused(paused, commandOf)}`,
    `pending: ${pending}; to see them: ${commandOf('plan')}`,
  ];
}

/** Returns the reason of the pause, and the command that ends it. */
export function whyPaused(paused: Paused, commandOf: CommandOf): string {
  switch (paused.by) {
    case 'suspension': {
      const reason = paused.reason === '' ? '' : `: ${paused.reason}`;
      return `suspended by ${paused.who} since ${paused.since}${reason}; to end that: ${commandOf('resume')}`;
    }
    case 'window': {
      const until = paused.until === undefined ? '' : `, until ${paused.until}`;
      return `outside the sync windows: ${paused.window}${until}; to write now: ${commandOf('sync --ignore-windows')}`;
    }
  }
}

/** Returns one line per source. Sources that failed for the same reason share a line. */
export function catalogueLines(outcomes: readonly CatalogueOutcome[]): string[] {
  const groups = Map.groupBy(outcomes, ({ source, action, message }) => (action === 'failed' ? message : source));
  return [...groups.values()].map(([first, ...more]) => {
    if (first === undefined) return '';
    if (more.length === 0) return textOfCatalogue(first);
    const names = [first, ...more].map(({ source }) => source);
    return `${names.length} registry sources failed (${several(names)}): ${first.message}`;
  });
}

function textOfCatalogue({ source, action, servers, rejected, message }: CatalogueOutcome): string {
  const broken = rejected > 0 ? `, ${countText(rejected, 'entry', 'entries')} rejected` : '';
  const reason = action === 'failed' ? `: ${message}` : '';
  return `registry ${source}: ${action}, ${countText(servers, 'server')}${broken}${reason}`;
}

/** Returns a line such as `namespace/Kind/name created`, with the reason of a failure. */
export function textOfOutcome({ action, resource, error }: ChangeOutcome): string {
  const reason = error === undefined ? '' : `: ${error.message} [${error.code}]`;
  return visible(`${formatId(resource)} ${action}${reason}`);
}

/** Maximum length of a list in which all resources are named. */
const NAMES_MAX = 10;

export function trouble({ problems, failures, warnings, quarantined }: RunResult, commandOf: CommandOf): string[] {
  return [
    ...quarantined.map((each) => textOfQuarantined(each, commandOf)),
    ...problems.map(formatProblem),
    ...failureLines(failures),
    ...warnings.map((failure) => `warning ${failure.code}: ${failure.message}`),
  ];
}

/** Returns lines such as `source apps waits for source infra: tools/MCPServer/wiki is not ready`. */
export function waitLines({ waits }: Pick<RunResult, 'waits'>): string[] {
  return waits.map((wait) => `${textOfWait(wait)}: ${wait.reason}`);
}

export function textOfQuarantined(
  { source, good, bad, since }: RunResult['quarantined'][number],
  commandOf: CommandOf,
): string {
  const [kept, refused] = [good, bad].map((commit) => commit.slice(0, 10));
  const end = `to end that: ${commandOf(`rollback --clear --source ${source}`)}`;
  return `source ${source} was rolled back at ${since} and stays at ${kept}: ${refused} is not applied, a newer commit will be; ${end}`;
}

/**
 * Returns lines about resources that are not ready, with the messages of their statuses. Resources that the run did not
 * wait for are only named.
 */
function waiting({ readiness: { progressing, failed, notRun = [] }, timedOut }: RunResult): string[] {
  const late = timedOut
    ? linesOfNotReady('not ready in time: ', progressing)
    : progressing.length === 0
      ? []
      : [`not ready yet: ${namesOf(progressing)}`];
  return [
    ...linesOfNotReady('not run here (NotRunHere): ', notRun),
    ...linesOfNotReady('in phase Failed: ', failed),
    ...late,
  ];
}

export function namesOf(resources: readonly ResourceId[]): string {
  const names = resources.map(formatId);
  return names.length > NAMES_MAX ? several(names) : names.join(', ');
}

function total(result: RunResult): string {
  const { created, configured, unchanged, deleted, held, failed } = summaryOf(result);
  const counts = `${created} created, ${configured} configured, ${unchanged} unchanged, ${deleted} deleted, ${held} held, ${failed} failed`;
  const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1000;
  return `${counts} (${countText(result.requests, 'API request')}, ${seconds.toFixed(1)} s)`;
}
