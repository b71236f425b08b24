// One rule: compiled once, evaluated often. Knows nothing about schemas and findings.

import { TypeError as CelTypeError, type Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { compilerFault, mentions, rewrite } from './inspect.ts';
import { OURS } from './library/library.ts';
import type { CelSchema } from './schema.ts';
import { unsupportedLists } from './unsupported.ts';

export type Outcome =
  | { readonly type: 'value'; readonly value: boolean | string }
  /** The API server refuses the object for it, too. */
  | { readonly type: 'error'; readonly message: string };

export interface Rule {
  readonly type: 'rule';
  readonly usesOldSelf: boolean;
  /** Values as the scope's type converts them. */
  evaluate(self: unknown, oldSelf?: unknown): Outcome;
}

export type CompiledRule =
  | Rule
  /** Kubernetes would not compile it either. */
  | { readonly type: 'invalid'; readonly reason: string }
  /** Kubernetes may evaluate it; this program cannot. */
  | { readonly type: 'unsupported'; readonly reason: string };

export interface RuleScope {
  readonly environment: Environment;
  readonly objects: ReadonlyMap<string, CelSchema>;
}

export function compileRule(scope: RuleScope, expression: string, wanted: 'bool' | 'string'): CompiledRule {
  const parsed = parse(scope.environment, expression);
  if (!parsed.ok) return parsed.outcome;
  const { program } = parsed;
  rewrite(program.ast);
  const checked = program.check();
  if (!checked.valid)
    return { type: isOfLanguage(checked.error) ? 'invalid' : 'unsupported', reason: readable(checked.error) };
  const fault = compilerFault(program.ast, scope.objects);
  if (fault !== undefined) return { type: 'invalid', reason: fault };
  if (checked.type !== wanted && checked.type !== 'dyn') {
    return { type: 'invalid', reason: `must evaluate to a ${wanted}, not to ${checked.type}` };
  }
  const reason = unsupportedLists(program.ast, scope.objects);
  if (reason !== undefined) return { type: 'unsupported', reason };
  return {
    type: 'rule',
    usesOldSelf: mentions(program.ast, 'oldSelf'),
    evaluate: (self, oldSelf) => evaluate(program, { self, oldSelf }, wanted === 'bool' ? 'boolean' : 'string'),
  };
}

type Program = ReturnType<Environment['parse']>;
type Parsed =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly outcome: Exclude<CompiledRule, Rule> };

function parse(environment: Environment, expression: string): Parsed {
  try {
    return { ok: true, program: environment.parse(withOwnMacros(expression)) };
  } catch (error) {
    if (!(error instanceof ParseError) && !(error instanceof EvaluationError)) throw error;
    const foreign = foreignSyntax(expression);
    if (foreign !== undefined) return { ok: false, outcome: { type: 'unsupported', reason: foreign } };
    return { ok: false, outcome: { type: 'invalid', reason: readable(error) } };
  }
}

const LITERALS = /""".*?"""|'''.*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*/gs;

/** Macros are expanded while the engine parses, so `has` must be ours before. */
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

/** Anything else is the engine's own failure, and says nothing about the rule. */
function isOfLanguage(error: Error | undefined): boolean {
  return error instanceof ParseError || error instanceof EvaluationError || error instanceof CelTypeError;
}

/** Syntax that Kubernetes has and the engine does not. */
function foreignSyntax(expression: string): string | undefined {
  const code = expression.replaceAll(LITERALS, '""');
  if (/[[{,]\s*\?/.test(code)) return 'optional entries of lists and maps cannot be evaluated without a cluster';
  if (/(?:^|[^\w)\]"])\.[0-9]/.test(code)) return 'a number without digits before its point cannot be evaluated here';
  return undefined;
}

function evaluate(program: Program, context: Record<string, unknown>, wanted: 'boolean' | 'string'): Outcome {
  try {
    const value: unknown = program(context);
    if (typeof value === wanted) return { type: 'value', value: value as boolean | string };
    return { type: 'error', message: `the result is no ${wanted}` };
  } catch (error) {
    // Whatever stops the engine would leave the rule without an answer; it is reported, never passed over.
    if (error instanceof Error) return { type: 'error', message: readable(error) };
    throw error;
  }
}

/** The first line: the rest points into the text of the rule. */
function readable(error: Error | undefined): string {
  const message = error instanceof EvaluationError || error instanceof ParseError ? error.summary : error?.message;
  const [line = ''] = (message ?? '').split('\n');
  return line.replaceAll(`${OURS}(`, '(');
}
