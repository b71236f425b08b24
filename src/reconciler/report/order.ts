// Sorts and counts problems, for reports that cannot show all problems.

import type { Problem } from '#std/problem.ts';
import { countText } from '#std/words/count-text.ts';
import type { ManifestValidation } from '../run/validate.ts';

/** Sorts errors before warnings. Otherwise keeps the order. */
export function bySeverity(problems: readonly Problem[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return [...errors, ...problems.filter(({ severity }) => severity !== 'error')];
}

/** Returns a text such as `2 errors, 1 warning`. A count of zero is left out. */
export function countOf(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  return [
    ...(errors === 0 ? [] : [countText(errors, 'error')]),
    ...(warnings === 0 ? [] : [countText(warnings, 'warning')]),
  ].join(', ');
}

/** Returns a text with the numbers of validated resources and files. */
export function validatedSize({ resources, files }: ManifestValidation['summary']): string {
  return `${countText(resources, 'resource')} in ${countText(files, 'file')}`;
}

/**
 * Returns the problems that are not in `others`. Ignores lines and columns. If a problem occurs several times, each
 * occurrence in `others` removes one occurrence.
 */
export function problemsWithout(problems: readonly Problem[], others: readonly Problem[]): readonly Problem[] {
  const left = Map.groupBy(others, sameness);
  return problems.filter((problem) => left.get(sameness(problem))?.pop() === undefined);
}

function sameness({ code, severity, message, place, pointer, resource }: Problem): string {
  return JSON.stringify([code, severity, message, place?.file, pointer, resource]);
}
