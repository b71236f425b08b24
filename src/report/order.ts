// Which problems come first where not all of them can be shown. Knows nothing about formats.

import type { Problem } from '../std/problem.ts';

/** Errors before warnings, each in the order that they were found in. */
export function bySeverity(problems: readonly Problem[]): readonly Problem[] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return [...errors, ...problems.filter(({ severity }) => severity !== 'error')];
}

/** `2 errors, 1 warning`; the parts that there are. */
export function countOf(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return [counted(errors, 'error'), counted(problems.length - errors, 'warning')]
    .filter((text) => text !== '')
    .join(', ');
}

export function counted(count: number, noun: string): string {
  if (count === 0) return '';
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
