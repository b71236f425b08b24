// Limits the cost of one evaluation: an expression of a few hundred characters can loop for years, or fill the memory.
// Source: Kubernetes' limit for one call (PerCallLimit), whose units are of similar size.

import { celPackage } from './package.ts';

/**
 * Three times that limit, because the units are counted differently: an expression that exceeds it is refused by an API
 * server too. It takes a third of a second.
 */
const MAX_COST = 3_000_000;

export const CHARACTERS_PER_UNIT = 10;

let left = Number.POSITIVE_INFINITY;

/** Runs an evaluation with its own budget. Evaluations inside it share the budget. */
export function withinBudget<T>(evaluation: () => T): T {
  if (left !== Number.POSITIVE_INFINITY) return evaluation();
  left = MAX_COST;
  try {
    return evaluation();
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}

/** Must be called before the work is done. Quantifiers continue after errors, so each further call also throws. */
export function spend(units: number): void {
  left -= units;
  if (left >= 0) return;
  const { EvaluationError } = celPackage();
  throw new EvaluationError('the expression costs too much to evaluate');
}
