// Declares the engine's types for macros, and binds variables inside a macro.

import type { ASTNode, TypeDeclaration } from '@marcbachmann/cel-js';
import { fail } from './library.ts';

/** Passed by the engine to the type check of a macro. */
export interface Checker {
  check(node: ASTNode, scope: MacroScope): TypeDeclaration;
  getType(name: string): TypeDeclaration;
  createError(code: string, message: string, node: ASTNode): Error;
  readonly objectTypes: ReadonlyMap<string, { readonly fields?: object }>;
}

export interface Evaluator {
  run(node: ASTNode, scope: MacroScope): unknown;
}

export interface MacroScope {
  forkWithVariable(name: string, type: TypeDeclaration): MacroScope;
  reuse(parent: MacroScope): MacroScope;
  setIterValue(value: unknown, evaluator: Evaluator): MacroScope;
}

export interface MacroCall {
  readonly args: readonly ASTNode[];
  readonly receiver: ASTNode;
}

/** Scopes of a macro's variables. Each scope is inside the previous scope. */
export interface Binding {
  scopes: readonly MacroScope[];
}

export function bind(
  scope: MacroScope,
  variables: readonly (readonly [name: string, type: TypeDeclaration])[],
): Binding {
  const scopes: MacroScope[] = [];
  for (const [name, type] of variables) scopes.push((scopes.at(-1) ?? scope).forkWithVariable(name, type));
  return { scopes };
}

export function innermost({ scopes }: Binding, outer: MacroScope): MacroScope {
  return scopes.at(-1) ?? outer;
}

export function runWith(
  evaluator: Evaluator,
  { scopes }: Binding,
  outer: MacroScope,
  node: ASTNode,
  values: readonly unknown[],
): unknown {
  let scope = outer;
  for (const [index, each] of scopes.entries()) scope = each.reuse(scope).setIterValue(values[index], evaluator);
  return evaluator.run(node, scope);
}

export function variableName(node: ASTNode | undefined): string {
  return node?.op === 'id' ? node.args : fail('the argument must be a simple name');
}
