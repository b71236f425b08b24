// Maps problems to an exit code.

import type { Problem } from '#std/problem.ts';

/** Returns 3 if manifests are invalid, 4 if policies deny objects and no manifest is invalid, else 0. */
export function problemsExit(problems: readonly Problem[]): 0 | 3 | 4 {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return 0;
  return errors.every(({ code }) => code.startsWith('policy/')) ? 4 : 3;
}
