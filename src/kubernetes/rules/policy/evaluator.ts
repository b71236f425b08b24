// Evaluates policies for objects as an API server does when it creates the objects.

import type { KubeObject } from '../object.ts';
import { type AdmissionValues, evaluatePolicy, type PolicyDecision } from './evaluate.ts';
import { locate } from './locate.ts';
import { isExempt, type Match, matches, mayMatch } from './match.ts';
import { type ParamSource, paramsFor } from './params.ts';
import type { Binding, Policy, ValidationAction } from './policy.ts';
import type { PolicySet } from './read.ts';
import {
  type NamespaceFacts,
  namespaceValue,
  objectValue,
  paramsValue,
  type Request,
  type ResourceType,
  requestOf,
  requestValue,
} from './request.ts';

/** Data about the cluster that policies depend on. */
export interface PolicyWorld {
  /** Returns undefined if the kind is unknown. Policies are not evaluated for its objects. */
  typeOf(apiVersion: string, kind: string): ResourceType | undefined;
  namespace(name: string): NamespaceFacts;
  /** Returns undefined if the kind is unknown. */
  params(apiVersion: string, kind: string): ParamSource | undefined;
}

export interface Violation {
  readonly policy: string;
  readonly binding: string;
  readonly action: ValidationAction;
  readonly message: string;
  /** A message without values of the object, to use instead of `message`, which may quote the object. */
  readonly discreet?: string;
  /** JSON pointer of the violating field. Empty if it cannot be determined. */
  readonly pointer: string;
}

export interface PolicyResult {
  readonly violations: readonly Violation[];
  /** Evaluations that only an API server can do. Each pair of policy and reason occurs once. */
  readonly unknown: readonly { readonly policy: string; readonly reason: string }[];
}

export type PolicyEvaluator = (object: KubeObject) => PolicyResult;

const NO_RESULT: PolicyResult = { violations: [], unknown: [] };

export function createEvaluator({ policies, bindings }: PolicySet, world: PolicyWorld): PolicyEvaluator {
  const bound = policies.map((policy) => ({
    policy,
    bindings: bindings.filter(({ policyName }) => policyName === policy.name),
  }));
  const byKind = new Map<string, typeof bound>();
  return (object) => {
    const type = world.typeOf(object.apiVersion, object.kind);
    if (type === undefined) return NO_RESULT;
    const request = requestOf(object, type);
    const key = `${object.apiVersion} ${object.kind}`;
    const candidates =
      byKind.get(key) ?? bound.filter(({ policy }) => !isExempt(request) && mayMatch(policy.match, request));
    byKind.set(key, candidates);
    return candidates.length === 0
      ? NO_RESULT
      : evaluatePolicies({ world, request, namespace: factsOf(request, world) }, candidates);
  };
}

interface Evaluation {
  readonly world: PolicyWorld;
  readonly request: Request;
  readonly namespace: NamespaceFacts;
}

function factsOf({ namespace, type }: Request, world: PolicyWorld): NamespaceFacts {
  return namespace === undefined || type.kind === 'Namespace' ? { type: 'none' } : world.namespace(namespace);
}

function evaluatePolicies(
  evaluation: Evaluation,
  candidates: readonly { readonly policy: Policy; readonly bindings: readonly Binding[] }[],
): PolicyResult {
  const violations = new Map<string, Violation>();
  const unknown = new Map<string, PolicyResult['unknown'][number]>();
  const values = openValues(evaluation);
  const tell = (policy: string, reason: string): void => void unknown.set(`${policy} ${reason}`, { policy, reason });
  for (const { policy, bindings } of candidates) {
    const match = matches(policy.match, evaluation.request, evaluation.namespace);
    if (match.type === 'no') continue;
    for (const binding of bindings) {
      for (const outcome of underBinding(evaluation, values, policy, match, binding)) {
        if ('reason' in outcome) tell(policy.name, outcome.reason);
        else violations.set(JSON.stringify(outcome), outcome);
      }
    }
  }
  return { violations: [...violations.values()], unknown: [...unknown.values()] };
}

type ViolationOrReason = Violation | { readonly reason: string };

function underBinding(
  evaluation: Evaluation,
  values: (match: Match & { type: 'yes' }, param: KubeObject | undefined) => AdmissionValues,
  policy: Policy,
  match: Match,
  binding: Binding,
): ViolationOrReason[] {
  const inside = binding.match === undefined ? match : matches(binding.match, evaluation.request, evaluation.namespace);
  if (inside.type === 'no') return [];
  if (match.type !== 'yes') return match.type === 'unknown' ? [{ reason: match.reason }] : [];
  if (inside.type === 'unknown') return [{ reason: inside.reason }];
  const params = paramsFor(policy, binding.paramRef, evaluation.request.namespace, evaluation.world.params);
  if (params.type === 'unknown') return [{ reason: params.reason }];
  if (params.type === 'error') {
    if (policy.failure === 'Ignore') return [];
    // A binding with invalid parameters denies the request regardless of the binding's actions.
    return [violationOf(policy, binding, 'Deny', { message: `failed to configure binding: ${params.message}` }, '')];
  }
  return params.objects.flatMap((param) => {
    const admission = values(match, param);
    const { decisions, annotations } = evaluatePolicy(policy, admission);
    return [
      ...decisions.flatMap((decision) => outcomesOf(policy, binding, binding.actions, decision, admission)),
      ...annotations.flatMap((decision) => outcomesOf(policy, binding, ['Deny'], decision, admission)),
    ];
  });
}

function outcomesOf(
  policy: Policy,
  binding: Binding,
  actions: readonly ValidationAction[],
  decision: PolicyDecision,
  values: AdmissionValues,
): ViolationOrReason[] {
  if (decision.type === 'unevaluable') return [{ reason: decision.reason }];
  const pointer = decision.type === 'denied' ? locate(policy, decision.expression, values) : '';
  return actions.map((action) => violationOf(policy, binding, action, decision, pointer));
}

function violationOf(
  policy: Policy,
  binding: Binding,
  action: ValidationAction,
  { message, discreet }: Pick<Violation, 'message' | 'discreet'>,
  pointer: string,
): Violation {
  const instead = discreet === undefined ? {} : { discreet };
  return { policy: policy.name, binding: binding.name, action, message, ...instead, pointer };
}

/**
 * Returns a function that builds the values of expressions. Objects are built once per apiVersion and shared by all
 * policies.
 */
function openValues({ request, namespace }: Evaluation) {
  const objects = new Map<string, Pick<AdmissionValues, 'object' | 'request'>>();
  const namespaceObject = namespaceValue(namespace);
  return ({ apiVersion, resource }: Match & { type: 'yes' }, param: KubeObject | undefined): AdmissionValues => {
    const known = objects.get(apiVersion) ?? {
      object: objectValue(request.object, apiVersion),
      request: requestValue(request, resource),
    };
    objects.set(apiVersion, known);
    return { ...known, namespaceObject, params: paramsValue(param) };
  };
}
