// Compiles a rule once, to evaluate it many times.

import { compileExpression, type Expression, type ExpressionScope } from './expression.ts';
import { mentions } from './inspect.ts';
import { unsupportedLists } from './unsupported.ts';

export type RuleOutcome =
  | { readonly type: 'value'; readonly value: boolean | string }
  /** The API server refuses the object because of this error. */
  | { readonly type: 'error'; readonly message: string };

export interface EvaluableRule {
  readonly type: 'rule';
  readonly usesOldSelf: boolean;
  /** The arguments are values that the scope has converted. */
  evaluate(self: unknown, oldSelf?: unknown): RuleOutcome;
}

export type CompiledRule =
  | EvaluableRule
  /** Kubernetes would not compile the rule either. */
  | { readonly type: 'invalid'; readonly reason: string }
  /** Kubernetes may evaluate the rule. This program cannot. */
  | { readonly type: 'unsupported'; readonly reason: string };

export function compileRule(scope: ExpressionScope, text: string, expectedType: 'bool' | 'string'): CompiledRule {
  const compiled = compileExpression(scope, text);
  if (compiled.type !== 'expression') return compiled;
  const { ast, resultType } = compiled;
  if (resultType !== expectedType && resultType !== 'dyn') {
    return { type: 'invalid', reason: `must evaluate to a ${expectedType}, not to ${resultType}` };
  }
  const reason = unsupportedLists(ast, scope.objects);
  if (reason !== undefined) return { type: 'unsupported', reason };
  return {
    type: 'rule',
    usesOldSelf: mentions(ast, 'oldSelf'),
    evaluate: (self, oldSelf) => evaluate(compiled, { self, oldSelf }, expectedType === 'bool' ? 'boolean' : 'string'),
  };
}

function evaluate(
  expression: Expression,
  context: Readonly<Record<string, unknown>>,
  expectedType: 'boolean' | 'string',
): RuleOutcome {
  const evaluated = expression.evaluate(context);
  switch (evaluated.type) {
    case 'value': {
      const { value } = evaluated;
      if (typeof value === expectedType) return { type: 'value', value: value as boolean | string };
      return { type: 'error', message: `the result is not a ${expectedType}` };
    }
    case 'error':
      return evaluated;
    case 'unevaluable':
      return { type: 'error', message: evaluated.reason };
  }
}
