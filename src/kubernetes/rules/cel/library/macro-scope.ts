// Declares the engine's types for macros, and binds variables inside a macro.

import type { ASTNode, TypeDeclaration } from '@marcbachmann/cel-js';
import { fail } from './library.ts';

/** Passed by the engine to the type check of a macro. */
export interface Checker {
  check(node: ASTNode, scope: Scope): TypeDeclaration;
  getType(name: string): TypeDeclaration;
  createError(code: string, message: string, node: ASTNode): Error;
  readonly objectTypes: ReadonlyMap<string, { readonly fields?: object }>;
}

export interface Evaluator {
  run(node: ASTNode, scope: Scope): unknown;
}

export interface Scope {
  forkWithVariable(name: string, type: TypeDeclaration): Scope;
  reuse(parent: Scope): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}

export interface Call {
  readonly args: readonly ASTNode[];
  readonly receiver: ASTNode;
}

/** Scopes of a macro's variables. Each scope is inside the previous scope. */
export interface Binding {
  scopes: readonly Scope[];
}

export function bind(scope: Scope, variables: readonly (readonly [name: string, type: TypeDeclaration])[]): Binding {
  const scopes: Scope[] = [];
  for (const [name, type] of variables) scopes.push((scopes.at(-1) ?? scope).forkWithVariable(name, type));
  return { scopes };
}

export function innermost({ scopes }: Binding, outer: Scope): Scope {
  return scopes.at(-1) ?? outer;
}

export function runWith(
  evaluator: Evaluator,
  { scopes }: Binding,
  outer: Scope,
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
