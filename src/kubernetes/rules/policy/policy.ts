// Converts valid ValidatingAdmissionPolicies and bindings from manifests to typed values. Source: Kubernetes 1.36,
// admissionregistration.k8s.io/v1.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../object.ts';

export const POLICY_API = 'admissionregistration.k8s.io/v1';
export const POLICY_KIND = 'ValidatingAdmissionPolicy';
export const BINDING_KIND = 'ValidatingAdmissionPolicyBinding';

export type ValidationAction = 'Deny' | 'Warn' | 'Audit';

export interface ResourceRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** Entries such as `pods`, `pods/status`, `*`, `pods/*`. */
  readonly resources: readonly string[];
  readonly scope: string;
  /** If empty, all names match. */
  readonly resourceNames: readonly string[];
}

export interface MatchResources {
  readonly rules: readonly ResourceRule[];
  readonly excluded: readonly ResourceRule[];
  readonly equivalent: boolean;
  readonly namespaceSelector: JsonObject;
  readonly objectSelector: JsonObject;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface PolicyValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface Policy {
  readonly name: string;
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
  readonly match: MatchResources;
  readonly conditions: readonly NamedExpression[];
  readonly variables: readonly NamedExpression[];
  readonly validations: readonly PolicyValidation[];
  /** Audit annotations. `name` is the key. */
  readonly annotations: readonly NamedExpression[];
  /** The failurePolicy, which decides the result if an expression fails. */
  readonly failure: 'Fail' | 'Ignore';
}

export interface ParamRef {
  readonly name?: string;
  readonly selector?: JsonObject;
  readonly namespace?: string;
  readonly notFound: 'Allow' | 'Deny';
}

export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef?: ParamRef;
  readonly match?: MatchResources;
  readonly actions: readonly ValidationAction[];
}

/** The object must be a policy in which `checkPolicy` finds no fault. */
export function policyOf(object: KubeObject): Policy {
  const spec = objectOf(object.spec);
  const { apiVersion, kind } = objectOf(spec.paramKind);
  return {
    name: object.metadata.name,
    paramKind: typeof apiVersion === 'string' && typeof kind === 'string' ? { apiVersion, kind } : undefined,
    match: matchOf(objectOf(spec.matchConstraints)),
    conditions: objectsOf(spec.matchConditions).map(namedOf),
    variables: objectsOf(spec.variables).map(namedOf),
    validations: objectsOf(spec.validations).map(validationOf),
    annotations: objectsOf(spec.auditAnnotations).map(({ key, valueExpression }) => ({
      name: textOrEmpty(key),
      expression: textOrEmpty(valueExpression),
    })),
    failure: spec.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
  };
}

/** The object must be a binding in which `checkBinding` finds no fault. */
export function bindingOf(object: KubeObject): Binding {
  const { policyName, paramRef, matchResources, validationActions } = objectOf(object.spec);
  return {
    name: object.metadata.name,
    policyName: textOrEmpty(policyName),
    paramRef: isObject(paramRef) ? paramRefOf(paramRef) : undefined,
    match: isObject(matchResources) ? matchOf(matchResources) : undefined,
    actions: textsOf(validationActions).filter((action): action is ValidationAction => ACTIONS.includes(action)),
  };
}

export const ACTIONS: readonly string[] = ['Deny', 'Warn', 'Audit'] satisfies ValidationAction[];

function matchOf(match: JsonObject): MatchResources {
  return {
    rules: objectsOf(match.resourceRules).map(ruleOf),
    excluded: objectsOf(match.excludeResourceRules).map(ruleOf),
    equivalent: match.matchPolicy !== 'Exact',
    namespaceSelector: objectOf(match.namespaceSelector),
    objectSelector: objectOf(match.objectSelector),
  };
}

function ruleOf(rule: JsonObject): ResourceRule {
  return {
    operations: textsOf(rule.operations),
    apiGroups: textsOf(rule.apiGroups),
    apiVersions: textsOf(rule.apiVersions),
    resources: textsOf(rule.resources),
    scope: typeof rule.scope === 'string' ? rule.scope : '*',
    resourceNames: textsOf(rule.resourceNames),
  };
}

function validationOf({ expression, message, messageExpression, reason }: JsonObject): PolicyValidation {
  return {
    expression: textOrEmpty(expression),
    message: typeof message === 'string' ? message : undefined,
    messageExpression:
      typeof messageExpression === 'string' && messageExpression !== '' ? messageExpression : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}

function paramRefOf({ name, selector, namespace, parameterNotFoundAction }: JsonObject): ParamRef {
  return {
    name: typeof name === 'string' && name !== '' ? name : undefined,
    selector: isObject(selector) ? selector : undefined,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : undefined,
    notFound: parameterNotFoundAction === 'Allow' ? 'Allow' : 'Deny',
  };
}

function namedOf({ name, expression }: JsonObject): NamedExpression {
  return { name: textOrEmpty(name), expression: textOrEmpty(expression) };
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns an empty object for a value of another type. The schema check reports the wrong type. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}

export function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
