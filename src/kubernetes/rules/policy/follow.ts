// Evaluates parts of an expression separately, and finds the places of their values in the object.

import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { pointerToken } from '#std/json.ts';
import { evaluationScope } from '../cel/admission.ts';
import { compileExpression } from '../cel/expression.ts';
import { authorizer } from '../cel/library/authorizer.ts';
import { celPackage } from '../cel/package.ts';
import { type AdmissionValues, variablesOf } from './evaluate.ts';
import type { Policy } from './policy.ts';

export interface Follower {
  /** Returns undefined if the evaluation fails or needs a value that only a server knows. */
  value(node: ASTNode): unknown;
  items(node: ASTNode): readonly unknown[];
  /** Returns the place of a map or list that is a part of the object itself. */
  placeOfValue(node: ASTNode): string | undefined;
  /** Returns the place of a CEL variable: `object`, or a variable that `with` has bound. */
  place(name: string): string | undefined;
  /** Returns the policy's expression for a node `variables.x`. undefined for other nodes. */
  variable(node: ASTNode): ASTNode | undefined;
  with(name: string, value: unknown, place: string | undefined): Follower;
}

interface ExpressionParts {
  readonly policy: Policy;
  readonly environment: Environment;
  readonly context: Readonly<Record<string, unknown>>;
  readonly places: ReadonlyMap<unknown, string>;
  readonly bound: ReadonlyMap<string, string | undefined>;
}

export function followOf(policy: Policy, values: AdmissionValues): Follower {
  const context = { ...values, oldObject: null, authorizer };
  const places = new Map<unknown, string>();
  noteValue(places, values.object, '');
  const { environment } = evaluationScope();
  const bound = new Map([['object', '']]);
  return follower({
    policy,
    environment,
    context: { ...context, variables: variablesOf(policy, context) },
    places,
    bound,
  });
}

/** Returns undefined if the text does not compile. */
export function parsedExpression(text: string): ASTNode | undefined {
  const compiled = compileExpression(evaluationScope(), text);
  return compiled.type === 'expression' ? compiled.ast : undefined;
}

function follower(state: ExpressionParts): Follower {
  const { policy, environment, context, places, bound } = state;
  function value(node: ASTNode): unknown {
    const compiled = compileExpression({ environment, objects: new Map() }, celPackage().serialize(node));
    const outcome = compiled.type === 'expression' ? compiled.evaluate(context) : undefined;
    return outcome?.type === 'value' ? outcome.value : undefined;
  }
  return {
    value,
    items(node) {
      const list = value(node);
      if (Array.isArray(list)) return list;
      return typeof list === 'object' && list !== null ? Object.keys(list) : [];
    },
    placeOfValue(node) {
      const found = value(node);
      return typeof found === 'object' && found !== null ? places.get(found) : undefined;
    },
    place: (name) => bound.get(name),
    variable(node) {
      if (node.op !== '.' || node.args[0].op !== 'id' || node.args[0].args !== 'variables') return undefined;
      const named = policy.variables.find(({ name }) => name === node.args[1]);
      return named === undefined ? undefined : parsedExpression(named.expression);
    },
    with(name, item, place) {
      const inner = bound.has(name) ? environment : environment.clone().registerVariable(name, 'dyn');
      const known = new Map(bound).set(name, place);
      return follower({ ...state, environment: inner, context: { ...context, [name]: item }, bound: known });
    },
  };
}

/**
 * Records the places of maps and lists by identity. Skips getters, because getters represent fields that only a server
 * knows.
 */
function noteValue(places: Map<unknown, string>, value: unknown, pointer: string): void {
  if (typeof value !== 'object' || value === null) return;
  places.set(value, pointer);
  for (const [name, { value: field }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    noteValue(places, field, `${pointer}/${pointerToken(name)}`);
  }
}
