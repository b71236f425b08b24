// Evaluates one policy for one request: conditions, variables, validations, audit annotations. Source: Kubernetes 1.36,
// ValidatingAdmissionPolicy.

import { evaluationScope } from '../cel/admission.ts';
import { type CompiledExpression, compileExpression, type Evaluated } from '../cel/expression.ts';
import { authorizer } from '../cel/library/authorizer.ts';
import { fail } from '../cel/library/library.ts';
import { refuseUnevaluable } from '../cel/unevaluable.ts';
import type { NamedExpression, Policy, PolicyValidation } from './policy.ts';

/** Values of CEL variables. Each field has the name of its variable. */
export interface AdmissionValues {
  readonly object: unknown;
  readonly request: unknown;
  readonly namespaceObject: unknown;
  readonly params: unknown;
}

/**
 * The decision of a policy. `discreet` is a message without values of the object, shown instead of a computed message.
 */
export type PolicyDecision =
  | ({ readonly type: 'denied'; readonly reason?: string; readonly expression: string } & DenialMessage)
  /** An expression failed, and the failurePolicy is `Fail`. */
  | ({ readonly type: 'failed'; readonly expression: string } & DenialMessage)
  | { readonly type: 'unevaluable'; readonly reason: string };

interface DenialMessage {
  readonly message: string;
  readonly discreet?: string;
}

export interface Decided {
  /** The decisions of all validations that do not admit the request. */
  readonly decisions: readonly PolicyDecision[];
  /** The decisions of failed audit annotations, which deny the request regardless of the binding's actions. */
  readonly annotations: readonly PolicyDecision[];
}

type PolicyVariables = Readonly<Record<string, unknown>>;

const NOTHING: Decided = { decisions: [], annotations: [] };
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Compiled expressions by text. Different policies often contain equal expressions. */
const compiled = new Map<string, CompiledExpression>();

export function evaluatePolicy(policy: Policy, values: AdmissionValues): Decided {
  const context: Record<string, unknown> = { ...values, oldObject: null, authorizer };
  const conditions = evaluateConditions(policy, context);
  if (conditions !== 'met') return conditions === 'not met' ? NOTHING : { ...NOTHING, decisions: [conditions] };
  context.variables = variablesOf(policy, context);
  return {
    decisions: policy.validations.flatMap((validation) => decide(policy, validation, context)),
    annotations: policy.annotations.flatMap((annotation) => annotate(policy, annotation, context)),
  };
}

function evaluateText(text: string, context: PolicyVariables): Evaluated {
  const expression = compiled.get(text) ?? compileExpression(evaluationScope(), text);
  compiled.set(text, expression);
  if (expression.type === 'expression') return expression.evaluate(context);
  return { type: 'unevaluable', reason: `it cannot be evaluated here: ${expression.reason}` };
}

/**
 * Evaluates the match conditions, which cannot read the namespace. A false condition means that the policy does not
 * apply, even if other conditions fail.
 */
function evaluateConditions(policy: Policy, context: PolicyVariables): 'met' | 'not met' | PolicyDecision {
  const evaluated = policy.conditions.map(({ expression }) => ({
    expression,
    outcome: evaluateText(expression, { ...context, namespaceObject: null }),
  }));
  if (evaluated.some(({ outcome }) => outcome.type === 'value' && outcome.value === false)) return 'not met';
  for (const { outcome } of evaluated) if (outcome.type === 'unevaluable') return outcome;
  for (const { expression, outcome } of evaluated) {
    if (outcome.type !== 'error') continue;
    return policy.failure === 'Ignore' ? 'not met' : failed(expression, outcome.message);
  }
  return 'met';
}

/**
 * Returns the variables. Each variable is evaluated when an expression first reads it. The result is a Map, because the
 * engine reads fields of Maps by `get`.
 */
export function variablesOf({ variables }: Policy, context: PolicyVariables): object {
  const known = new Map<string, Evaluated>();
  const values = new Map<string, unknown>();
  const inner = { ...context, variables: values };
  const has = (name: string): boolean => variables.some((variable) => variable.name === name);
  function get(name: string): unknown {
    const variable = variables.find((each) => each.name === name);
    if (variable === undefined) return undefined;
    const evaluated = known.get(name) ?? evaluateText(variable.expression, inner);
    known.set(name, evaluated);
    if (evaluated.type === 'value') return evaluated.value;
    if (evaluated.type === 'unevaluable') return refuseUnevaluable(evaluated.reason);
    return fail(`variable ${name} fails: ${evaluated.message}`);
  }
  return Object.assign(values, { get, has });
}

function decide(policy: Policy, validation: PolicyValidation, context: PolicyVariables): PolicyDecision[] {
  const { expression, reason } = validation;
  const outcome = evaluateText(expression, context);
  switch (outcome.type) {
    case 'unevaluable':
      return [outcome];
    case 'error':
      return policy.failure === 'Ignore' ? [] : [failed(expression, outcome.message)];
    case 'value': {
      if (outcome.value === true) return [];
      return [{ type: 'denied', ...messageOf(validation, context), expression, reason }];
    }
  }
}

/** Returns the result of messageExpression if it is usable, otherwise `message`, otherwise the expression itself. */
function messageOf(
  { expression, message = '', messageExpression }: PolicyValidation,
  context: PolicyVariables,
): DenialMessage {
  const outcome = messageExpression === undefined ? undefined : evaluateText(messageExpression, context);
  const text = outcome?.type === 'value' && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  const usable = text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES && !text.includes('\n');
  const written = message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
  return usable ? { message: text, discreet: written } : { message: written };
}

function annotate(policy: Policy, { expression }: NamedExpression, context: PolicyVariables): PolicyDecision[] {
  const outcome = evaluateText(expression, context);
  switch (outcome.type) {
    case 'unevaluable':
      return [outcome];
    case 'error':
      return policy.failure === 'Ignore' ? [] : [failed(expression, outcome.message)];
    case 'value':
      return [];
  }
}

function failed(expression: string, message: string): PolicyDecision {
  const discreet = `expression '${expression.trim()}' resulted in error`;
  return { type: 'failed', expression, message: `${discreet}: ${message}`, discreet };
}
