// The shape in which functions are handed to the CEL engine.

import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';
import { celPackage } from '../package.ts';

export interface Library {
  /** CEL name of a type to the class of its values. */
  readonly types?: Readonly<Record<string, abstract new (...args: never[]) => object>>;
  /** Name to type and value. */
  readonly constants?: Readonly<Record<string, readonly [type: string, value: object]>>;
  /** Signature (`string.find(string): string`) to function. */
  readonly functions?: Readonly<Record<string, RegisteredFunctionHandler>>;
  /** Signature (`duration + duration`) to function. */
  readonly operators?: Readonly<Record<string, (left: never, right: never) => unknown>>;
}

/**
 * The engine does not let its own functions be replaced. Where Kubernetes' differ, ours carry this ending, and
 * expressions are rewritten to call them.
 */
export const OURS = '__';

export function register(environment: Environment, library: Library): void {
  for (const [name, type] of Object.entries(library.types ?? {})) environment.registerType(name, type);
  for (const [name, [type, value]] of Object.entries(library.constants ?? {})) {
    environment.registerConstant(name, type, value);
  }
  for (const [signature, handler] of Object.entries(library.functions ?? {})) {
    environment.registerFunction(signature, handler, { async: false });
  }
  for (const [signature, handler] of Object.entries(library.operators ?? {})) {
    environment.registerOperator(signature, handler as (left: unknown, right: unknown) => unknown);
  }
}

/** Ends the evaluation as an error of the rule. */
export function fail(message: string): never {
  const { EvaluationError } = celPackage();
  throw new EvaluationError(message);
}

/** Sets are lists too. */
export function itemsOf<T>(list: Iterable<T>): readonly T[] {
  return Array.isArray(list) ? list : [...list];
}
