// Loads the CEL engine when the first expression is compiled. A run without changes compiles none.

import type { EvaluationError, Optional, ParseError } from '@marcbachmann/cel-js';
import { lazyPackage } from '#std/lazy-package.ts';

export const celPackage = lazyPackage<typeof import('@marcbachmann/cel-js')>('@marcbachmann/cel-js');

/** Wraps a value as an optional. undefined becomes an optional without a value. */
export function optionalOf(value: unknown): Optional {
  const { Optional } = celPackage();
  return value === undefined ? Optional.none() : Optional.of(value);
}

export function isOptional(value: unknown): value is Optional {
  return value instanceof celPackage().Optional;
}

/** True if the engine threw the error because the expression cannot be parsed or evaluated. */
export function isExpressionError(error: unknown): error is ParseError | EvaluationError {
  const { EvaluationError, ParseError } = celPackage();
  return error instanceof EvaluationError || error instanceof ParseError;
}
