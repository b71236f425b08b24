// What a change made of a validation, as lines for people: problems that are new, problems that are gone, and how it stands.

import { formatProblem, type Problem } from '#std/problem.ts';
import type { Validation } from '../run/validate.ts';
import { textOfValidation, verdictOn } from './text.ts';

/** All of it where there is nothing before; nothing where it stands as before. */
export function textOfChangedValidation(now: Validation, before: Validation | undefined): string {
  if (before === undefined) return textOfValidation(now);
  const appeared = without(now.problems, before.problems).map((problem) => `new: ${formatProblem(problem)}`);
  const gone = without(before.problems, now.problems).map((problem) => `solved: ${formatProblem(problem)}`);
  const news = [...gone, ...appeared];
  if (news.length === 0 && sameSummary(now, before)) return '';
  return [...news, verdictOn(now)].map((line) => `${line}\n`).join('');
}

function sameSummary({ summary: a }: Validation, { summary: b }: Validation): boolean {
  return a.files === b.files && a.resources === b.resources && a.invalid === b.invalid;
}

/** As many as there are more: a problem is the same wherever in its file it stands. */
function without(problems: readonly Problem[], others: readonly Problem[]): readonly Problem[] {
  const left = Map.groupBy(others, sameness);
  return problems.filter((problem) => left.get(sameness(problem))?.pop() === undefined);
}

function sameness({ code, severity, message, place, pointer, resource }: Problem): string {
  return JSON.stringify([code, severity, message, place?.file, pointer, resource]);
}
