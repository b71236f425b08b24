// Defines the type of libraries of functions for the CEL engine.

import type { Environment, RegisteredFunctionHandler } from '@marcbachmann/cel-js';
import { celPackage } from '../package.ts';

export interface Library {
  /** Classes of values by the CEL name of their type. */
  readonly types?: Readonly<Record<string, abstract new (...args: never[]) => object>>;
  /** Types and values of constants by name. */
  readonly constants?: Readonly<Record<string, readonly [type: string, value: object]>>;
  /** Functions by signature (`string.find(string): string`). */
  readonly functions?: Readonly<Record<string, RegisteredFunctionHandler>>;
  /** Operators by signature (`duration + duration`). */
  readonly operators?: Readonly<Record<string, (left: never, right: never) => unknown>>;
}

/**
 * Suffix of the names of our functions that replace functions of the engine. The engine refuses replacements, so
 * expressions are rewritten to call our functions.
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

export function fail(message: string): never {
  const { EvaluationError } = celPackage();
  throw new EvaluationError(message);
}

/** Returns the items of a list. A list with `x-kubernetes-list-type: set` is a Set. */
export function itemsOf<T>(list: Iterable<T>): readonly T[] {
  return Array.isArray(list) ? list : [...list];
}
