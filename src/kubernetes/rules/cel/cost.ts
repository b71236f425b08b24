// Limits the cost of one evaluation: an expression of a few hundred characters can loop for years, or fill the memory.
// Source: Kubernetes' limit for one call (PerCallLimit). One unit stands for about as much work as in Kubernetes.

import { celPackage } from './package.ts';

/**
 * Three times PerCallLimit, so that an API server also refuses an expression that exceeds this limit. An evaluation of
 * this cost takes a third of a second.
 */
const MAX_COST = 3_000_000;

export const CHARACTERS_PER_UNIT = 10;

let left = Number.POSITIVE_INFINITY;

/** Runs an evaluation with a new budget. A nested evaluation shares the budget of the outer evaluation. */
export function withinBudget<T>(evaluation: () => T): T {
  if (left !== Number.POSITIVE_INFINITY) return evaluation();
  left = MAX_COST;
  try {
    return evaluation();
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}

/** Must be called before the work is done. Quantifiers continue after errors, so each later call throws again. */
export function spend(units: number): void {
  left -= units;
  if (left >= 0) return;
  const { EvaluationError } = celPackage();
  throw new EvaluationError('the expression costs too much to evaluate');
}
