// The exit code that problems stand for.

import type { Problem } from '#std/problem.ts';

/** 3 where manifests are invalid, 4 where nothing is wrong but that policies deny something, else 0. */
export function problemsExit(problems: readonly Problem[]): 0 | 3 | 4 {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return 0;
  return errors.every(({ code }) => code.startsWith('policy/')) ? 4 : 3;
}
