// Which problems come first where not all of them can be shown, and how many there are.

import type { Problem } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import type { Validation } from '../run/validate.ts';

/** Errors before warnings, each in the order that they were found in. */
export function bySeverity(problems: readonly Problem[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return [...errors, ...problems.filter(({ severity }) => severity !== 'error')];
}

/** `2 errors, 1 warning`; the parts that there are. */
export function countOf(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  return [
    ...(errors === 0 ? [] : [countText(errors, 'error')]),
    ...(warnings === 0 ? [] : [countText(warnings, 'warning')]),
  ].join(', ');
}

/** How much was validated. */
export function validatedSize({ resources, files }: Validation['summary']): string {
  return `${countText(resources, 'resource')} in ${countText(files, 'file')}`;
}

/** Problems that the others lack, counted: a problem is the same wherever in its file it stands. */
export function problemsWithout(problems: readonly Problem[], others: readonly Problem[]): readonly Problem[] {
  const left = Map.groupBy(others, sameness);
  return problems.filter((problem) => left.get(sameness(problem))?.pop() === undefined);
}

function sameness({ code, severity, message, place, pointer, resource }: Problem): string {
  return JSON.stringify([code, severity, message, place?.file, pointer, resource]);
}
