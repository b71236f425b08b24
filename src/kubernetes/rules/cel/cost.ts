// What one evaluation may cost: an expression of a few hundred characters can loop for years, or fill the memory. Source:
// Kubernetes' limit for one call (PerCallLimit), whose units are about as large.

import { celPackage } from './package.ts';

/** Three times that limit, as ours are counted otherwise: what ends here, an API server refuses too. A third of a second. */
const MAX_COST = 3_000_000;

export const CHARACTERS_PER_UNIT = 10;

let left = Number.POSITIVE_INFINITY;

/** Runs an evaluation with a budget of its own; what is evaluated inside of it spends of the same. */
export function withinBudget<T>(evaluation: () => T): T {
  if (left !== Number.POSITIVE_INFINITY) return evaluation();
  left = MAX_COST;
  try {
    return evaluation();
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}

/** Called before the work is done. Quantifiers go on after errors: whoever spends after the end is stopped at once, too. */
export function spend(units: number): void {
  left -= units;
  if (left >= 0) return;
  const { EvaluationError } = celPackage();
  throw new EvaluationError('the expression costs too much to evaluate');
}
