// Renders changes since the previous validation or run: new and solved problems, resources that became ready, and the
// current state.

import { formatId, formatProblem, type Problem } from '#std/problem.ts';
import { type CommandOf, INSTALLED } from '#std/words/command-of.ts';
import { countText } from '#std/words/count-text.ts';
import type { ChangeOutcome } from '../run/apply/apply.ts';
import type { CatalogueOutcome } from '../run/catalogue/registries.ts';
import type { RunResult } from '../run/result.ts';
import type { ManifestValidation } from '../run/validate.ts';
import { guardLines } from './deletion-text.ts';
import { problemsWithout } from './order.ts';
import {
  catalogueLines,
  namesOf,
  pausedLines,
  summaryLine,
  textOfEnding,
  textOfOutcome,
  textOfValidation,
  trouble,
  waitLines,
} from './text.ts';
import { visibleLines } from './visible.ts';

/** Returns the whole validation if no previous validation exists. Returns an empty text if nothing has changed. */
export function textOfChangedValidation(now: ManifestValidation, before: ManifestValidation | undefined): string {
  if (before === undefined) return textOfValidation(now);
  const appeared = problemsWithout(now.problems, before.problems).map((problem) => `new: ${formatProblem(problem)}`);
  const gone = problemsWithout(before.problems, now.problems).map(textOfSolved);
  const news = [...gone, ...appeared];
  if (news.length === 0 && sameSummary(now, before)) return '';
  return [...news, summaryLine(now)].map((line) => `${line}\n`).join('');
}

function sameSummary({ summary: a }: ManifestValidation, { summary: b }: ManifestValidation): boolean {
  return a.files === b.files && a.resources === b.resources && a.invalid === b.invalid;
}

function textOfSolved(problem: Problem): string {
  return `solved: ${formatProblem(problem)}`;
}

/**
 * Returns the end of a scheduled run, without its outcomes, which are already printed. Empty if the run changed nothing
 * and its problems, failures and waiting deletions are the same as in the run `before`.
 */
export function textOfChanges(result: RunResult, before: RunResult | undefined, commandOf: CommandOf): string {
  const catalogue = result.catalogue.filter(({ action }) => action !== 'unchanged');
  const ready = readied(result, before);
  const notRun = newlyNotRun(result, before);
  const standing = standingOf({ ...result, catalogue });
  const isIdle = ready.length === 0 && notRun.length === 0;
  const quiet = catalogue.every(isStuck) && result.outcomes.every(isStuck) && isIdle;
  if (quiet && standing === (before === undefined ? '' : standingOf(before))) return '';
  const resumed = before?.paused !== undefined && result.paused === undefined;
  const news = [
    ...(resumed ? ['changes are made again'] : []),
    ...solvedLines(result, before, commandOf),
    ...(ready.length === 0 ? [] : [`ready: ${ready}`]),
  ];
  const readiness = { ...result.readiness, notRun };
  return visibleLines(news) + textOfEnding({ ...result, catalogue, readiness }, commandOf, before?.problems);
}

/** Returns one line per source with another commit than in the run `before`. The run must have no other news. */
export function textOfNewCommits({ commits, problems }: RunResult, before: RunResult | undefined): string {
  if (before === undefined) return '';
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const rest = errors === 0 ? '' : `, ${countText(errors, 'error')} as before`;
  return Object.entries(commits)
    .filter(([source, commit]) => before.commits[source] !== commit)
    .map(([source, commit]) => `source ${source} at ${commit.slice(0, 10)}: nothing to change${rest}`)
    .join('\n');
}

/**
 * Returns one line per solved problem. After failures, returns none, because it is unknown which problems are solved.
 */
function solvedLines(result: RunResult, before: RunResult | undefined, commandOf: CommandOf): readonly string[] {
  if (before === undefined || result.failures.length > 0) return [];
  const solved = problemsWithout(before.problems, result.problems).map(textOfSolved);
  const isOver = trouble(before, commandOf).length > 0 && trouble(result, commandOf).length === 0;
  return [...solved, ...(isOver ? ['no problems any more'] : [])];
}

/** Returns the lines that each run repeats until a person acts. */
function standingOf(result: RunResult): string {
  const failed = [
    ...result.outcomes.filter(isStuck).map(textOfOutcome),
    ...catalogueLines(result.catalogue.filter(isStuck)),
  ];
  return visibleLines([
    ...failed,
    ...trouble(result, INSTALLED),
    ...waitLines(result),
    ...guardLines(result.plan, { extent: 'all', commandOf: INSTALLED }),
    ...pausedLines(result, INSTALLED),
  ]);
}

/** Returns true if the change failed or was not attempted. */
function isStuck({ action }: ChangeOutcome | CatalogueOutcome): boolean {
  return action === 'failed' || action === 'held';
}

/** Returns the names of the ready resources that were progressing in the previous run. */
function readied({ readiness }: RunResult, before: RunResult | undefined): string {
  const waitedFor = new Set(before?.readiness.progressing.map(formatId) ?? []);
  return namesOf(readiness.ready.filter((resource) => waitedFor.has(formatId(resource))));
}

function newlyNotRun({ readiness: { notRun = [] } }: RunResult, before: RunResult | undefined) {
  const known = new Set(before?.readiness.notRun?.map(formatId) ?? []);
  return notRun.filter((resource) => !known.has(formatId(resource)));
}

/**
 * Returns a function that prints outcomes at once. A failed or held outcome that each run repeats is printed only once.
 */
export function tellOutcomes(say: (text: string) => void): (outcome: ChangeOutcome) => void {
  const standing = new Map<string, string>();
  return (outcome) => {
    const id = formatId(outcome.resource);
    const text = textOfOutcome(outcome);
    if (standing.get(id) === text) return;
    if (isStuck(outcome)) standing.set(id, text);
    else standing.delete(id);
    say(text);
  };
}

/** Counts the objects that the first run creates, and prints all other outcomes. `end` prints the count. */
export function countCreated(say: (text: string) => void) {
  const tellOne = tellOutcomes(say);
  let counting = true;
  let [objects, declared] = [0, 0];
  return {
    tell(outcome: ChangeOutcome): void {
      if (counting && outcome.action === 'created') {
        objects += 1;
        if (outcome.owner === undefined) declared += 1;
      } else tellOne(outcome);
    },
    end(): void {
      counting = false;
      const from = `for ${countText(declared, 'declared resource')}`;
      if (objects > 0) say(`created ${countText(objects, 'object')} ${from} (-v names each)`);
    },
  };
}
