// Makes an expression spend from its budget when it repeats work or creates a larger value.

import type { ASTNode } from '@marcbachmann/cel-js';
import { CHARACTERS_PER_UNIT, spend } from './cost.ts';
import { nodesOf } from './inspect.ts';

/** Functions that evaluate their arguments for each item. */
const LOOPS: ReadonlySet<string> = new Set([
  ...['all', 'exists', 'existsOne', 'exists_one', 'filter', 'map', 'sortBy'],
  ...['transformList', 'transformMap', 'transformMapEntry'],
]);

/** Cost of a thrown error: quantifiers continue after errors, and the creation of an error is slow. */
const UNITS_PER_ERROR = 100;

/** Adds the spending to the nodes. Must run after the type check, in which the engine expands macros. */
export function meter(root: ASTNode): void {
  const nodes = [...nodesOf(root)];
  const bodies = nodes.flatMap((node) => (node.op === 'rcall' && LOOPS.has(node.args[0]) ? node.args[2] : []));
  // Without a loop, the expression reads each value only a few times, so only concatenation can create large values.
  const large = nodes.flatMap((node) => (node.op === '+' ? [node] : bodies.length > 0 ? operandsOf(node) : []));
  for (const node of new Set(large)) if (node.op !== 'value') spendResult(node);
  for (const body of new Set(bodies)) spendBefore(body, [...nodesOf(body)].length);
}

/** Returns the operands that the operation reads from beginning to end. */
function operandsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'rcall':
      return LOOPS.has(node.args[0]) ? [] : [node.args[1]];
    case 'call':
      return node.args[1];
    case 'in':
    case '==':
    case '!=':
      return [node.args[1]];
    default:
      return [];
  }
}

function spendBefore(node: ASTNode, units: number): void {
  intercept(node, (evaluate, evaluator, ast, scope) => {
    spend(units);
    try {
      return evaluate.call(ast, evaluator, ast, scope);
    } catch (error) {
      spend(UNITS_PER_ERROR);
      throw error;
    }
  });
}

function spendResult(node: ASTNode): void {
  intercept(node, (evaluate, evaluator, ast, scope) => {
    const result = evaluate.call(ast, evaluator, ast, scope);
    if (typeof result === 'string') spend(result.length / CHARACTERS_PER_UNIT);
    else if (Array.isArray(result)) spend(result.length);
    return result;
  });
}

type Evaluate = (this: ASTNode, evaluator: unknown, ast: ASTNode, scope: unknown) => unknown;
type Around = (evaluate: Evaluate, evaluator: unknown, ast: ASTNode, scope: unknown) => unknown;

/**
 * Wraps the evaluation of a node. The engine replaces a node's function at the first call. The setter keeps the wrapper
 * around the new function.
 */
function intercept(node: ASTNode, around: Around): void {
  let inner = Reflect.get(node, 'evaluate') as Evaluate;
  const intercepted: Evaluate = (evaluator, ast, scope) => around(inner, evaluator, ast, scope);
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => intercepted,
    set(value: Evaluate) {
      inner = value;
    },
  });
}
