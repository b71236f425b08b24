// The engine that expressions are evaluated by, loaded when the first one is compiled: a run in which nothing changed
// compiles none.

import type { EvaluationError, Optional, ParseError } from '@marcbachmann/cel-js';
import { lazyPackage } from '#std/lazy-package.ts';

export const celPackage = lazyPackage<typeof import('@marcbachmann/cel-js')>('@marcbachmann/cel-js');

/** Undefined becomes an optional without a value. */
export function optionalOf(value: unknown): Optional {
  const { Optional } = celPackage();
  return value === undefined ? Optional.none() : Optional.of(value);
}

export function isOptional(value: unknown): value is Optional {
  return value instanceof celPackage().Optional;
}

/** What the engine says of an expression: that it cannot be read, or evaluated. */
export function isExpressionError(error: unknown): error is ParseError | EvaluationError {
  const { EvaluationError, ParseError } = celPackage();
  return error instanceof EvaluationError || error instanceof ParseError;
}
