// Compiles CEL expressions over a token's claims, for checks of manifests and for evaluation. Role mappings and trusted
// issuers contain such expressions.

import type { TypeError as CelTypeError, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { lazyPackage } from '#std/lazy-package.ts';

const celPackage = lazyPackage<typeof import('@marcbachmann/cel-js')>('@marcbachmann/cel-js');

export type RoleMatcher =
  | {
      readonly type: 'matcher';
      /** True if the expression reads no claims, so that its result never changes. */
      readonly constant: boolean;
      /**
       * Returns whether the claims match. Returns false if the expression cannot be evaluated, for example because a
       * claim is missing.
       */
      matches(claims: Readonly<Record<string, unknown>>): boolean;
    }
  | { readonly type: 'fault'; readonly message: string };

/** Compiles an expression. Its variable `claims` is a map of the token's claims. */
export function roleMatcher(expression: string): RoleMatcher {
  const plain = new (celPackage().Environment)();
  const parsed = parseExpression(plain.clone().registerVariable('claims', 'map<string, dyn>'), expression);
  if ('message' in parsed) return { type: 'fault', message: parsed.message };
  const checked = parsed.check();
  if (!checked.valid) return { type: 'fault', message: summaryOf(checked.error) };
  const { type = 'dyn' } = checked;
  if (type !== 'bool' && type !== 'dyn') return { type: 'fault', message: `it returns ${type}, not true or false` };
  const alone = parseExpression(plain, expression);
  return {
    type: 'matcher',
    constant: !('message' in alone) && alone.check().valid,
    matches: (claims) => isTrue(parsed, claims),
  };
}

type CelAst = ReturnType<Environment['parse']>;

function parseExpression(environment: Environment, expression: string): CelAst | { readonly message: string } {
  try {
    return environment.parse(expression);
  } catch (error) {
    if (!isOfLanguage(error)) throw error;
    return { message: summaryOf(error) };
  }
}

function isTrue(program: CelAst, claims: Readonly<Record<string, unknown>>): boolean {
  try {
    return program({ claims }) === true;
  } catch (error) {
    if (!isOfLanguage(error)) throw error;
    return false;
  }
}

function isOfLanguage(error: unknown): error is ParseError | EvaluationError | CelTypeError {
  const cel = celPackage();
  return [cel.ParseError, cel.EvaluationError, cel.TypeError].some((kind) => error instanceof kind);
}

/** Returns the first line of the message. The other lines show the place in the expression. */
function summaryOf(error: Error | undefined): string {
  const cel = celPackage();
  const isLong = error instanceof cel.EvaluationError || error instanceof cel.ParseError;
  const message = isLong ? error.summary : error?.message;
  return (message ?? 'is not an expression').split('\n')[0] ?? '';
}
