// Compiles one expression as Kubernetes' compiler does. The result can be evaluated many times.

import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { withinBudget } from './cost.ts';
import { compilerFault, rewrite } from './inspect.ts';
import { OURS } from './library/library.ts';
import { meter } from './meter.ts';
import { celPackage, isExpressionError } from './package.ts';
import type { CelSchema } from './schema.ts';
import { watched } from './unevaluable.ts';

export type Evaluated =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'error'; readonly message: string }
  /** The expression uses a value that only an API server knows. */
  | { readonly type: 'unevaluable'; readonly reason: string };

export interface Expression {
  readonly type: 'expression';
  /** The type in the engine's notation: `bool`, `list<string>`, `dyn`. */
  readonly resultType: string;
  readonly ast: ASTNode;
  /** Evaluates the expression with values by name of the variable. */
  evaluate(context: Readonly<Record<string, unknown>>): Evaluated;
}

export type CompiledExpression =
  | Expression
  /** Kubernetes would not compile the expression either. */
  | { readonly type: 'invalid'; readonly reason: string }
  /** Kubernetes may evaluate the expression. This program cannot. */
  | { readonly type: 'unsupported'; readonly reason: string };

export interface ExpressionScope {
  readonly environment: Environment;
  readonly objects: ReadonlyMap<string, CelSchema>;
}

export function compileExpression({ environment, objects }: ExpressionScope, text: string): CompiledExpression {
  const parsed = parseProgram(environment, text);
  if (!parsed.ok) return parsed.outcome;
  const { program } = parsed;
  rewrite(program.ast);
  const checked = program.check();
  if (!checked.valid)
    return { type: isOfLanguage(checked.error) ? 'invalid' : 'unsupported', reason: summaryOf(checked.error) };
  const fault = compilerFault(program.ast, objects);
  if (fault !== undefined) return { type: 'invalid', reason: fault };
  meter(program.ast);
  return {
    type: 'expression',
    resultType: checked.type ?? 'dyn',
    ast: program.ast,
    evaluate: (context) => evaluate(program, context),
  };
}

type CelProgram = ReturnType<Environment['parse']>;
type ParseResult =
  | { readonly ok: true; readonly program: CelProgram }
  | { readonly ok: false; readonly outcome: Exclude<CompiledExpression, Expression> };

function parseProgram(environment: Environment, expression: string): ParseResult {
  try {
    return { ok: true, program: environment.parse(withOwnMacros(expression)) };
  } catch (error) {
    if (!isExpressionError(error)) throw error;
    const foreign = foreignSyntax(expression);
    if (foreign !== undefined) return { ok: false, outcome: { type: 'unsupported', reason: foreign } };
    return { ok: false, outcome: { type: 'invalid', reason: summaryOf(error) } };
  }
}

const LITERALS = /""".*?"""|'''.*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*/gs;

/** Renames `has` to our macro. The engine expands macros while it parses, so the text must be changed before. */
function withOwnMacros(expression: string): string {
  let code = '';
  let end = 0;
  for (const literal of expression.matchAll(LITERALS)) {
    code += replaceHas(expression.slice(end, literal.index)) + literal[0];
    end = literal.index + literal[0].length;
  }
  return code + replaceHas(expression.slice(end));
}

function replaceHas(code: string): string {
  return code.replaceAll(/(?<![\w.])has(?=\s*\()/g, `has${OURS}`);
}

/**
 * True if the error is an error of the CEL language. Any other error is a failure of the engine and says nothing about
 * the rule.
 */
function isOfLanguage(error: Error | undefined): boolean {
  return isExpressionError(error) || error instanceof celPackage().TypeError;
}

/** Returns a message about syntax that Kubernetes supports and the engine does not. */
function foreignSyntax(expression: string): string | undefined {
  const code = expression.replaceAll(LITERALS, '""');
  if (/[[{,]\s*\?/.test(code)) return 'optional entries of lists and maps cannot be evaluated without a cluster';
  if (/(?:^|[^\w)\]"])\.[0-9]/.test(code)) return 'a number without digits before its point cannot be evaluated here';
  return undefined;
}

function evaluate(program: CelProgram, context: Readonly<Record<string, unknown>>): Evaluated {
  const { result, met } = watched((): Evaluated => {
    try {
      return { type: 'value', value: withinBudget(() => program(context)) };
    } catch (error) {
      // Every error is reported, because it leaves the expression without a result.
      if (error instanceof Error) return { type: 'error', message: summaryOf(error) };
      throw error;
    }
  });
  return result.type === 'error' && met !== undefined ? { type: 'unevaluable', reason: met } : result;
}

/** Returns the first line of the message. The other lines point into the text of the rule. */
function summaryOf(error: Error | undefined): string {
  const message = isExpressionError(error) ? error.summary : error?.message;
  const [line = ''] = (message ?? '').split('\n');
  return line.replaceAll(`${OURS}(`, '(');
}
