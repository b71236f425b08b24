// Decides whether a policy or a binding applies to a request. Source: Kubernetes 1.36, admission: rules, matchPolicy
// and selectors.

import { isEmptySelector, selects } from '../label-selector.ts';
import type { MatchResources, ResourceRule } from './policy.ts';
import {
  type NamespaceFacts,
  namespaceLabels,
  type Request,
  type Resource,
  resourceOf,
  unknownNamespace,
} from './request.ts';

export type Match =
  | { readonly type: 'no' }
  /** `resource`: the resource in the apiVersion that the rule matched. */
  | { readonly type: 'yes'; readonly resource: Resource; readonly apiVersion: string }
  /** Only the API server can decide. */
  | { readonly type: 'unknown'; readonly reason: string };

const NO: Match = { type: 'no' };
const OPERATION = 'CREATE';

/** Kinds for which no policy is evaluated. Otherwise a policy that forbids its own change could never be fixed. */
const EXEMPT: ReadonlySet<string> = new Set([
  ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'],
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'],
]);

export function isExempt({ resource, type }: Request): boolean {
  return resource.group === 'admissionregistration.k8s.io' && EXEMPT.has(type.kind);
}

/** Evaluates the namespace last, because an unknown namespace changes the result only if all other conditions match. */
export function matches(match: MatchResources, request: Request, namespace: NamespaceFacts): Match {
  if (byRules(match.excluded, match.equivalent, request).type === 'yes') return NO;
  const matched = match.rules.length === 0 ? asRequested(request) : byRules(match.rules, match.equivalent, request);
  if (matched.type === 'no') return NO;
  if (!isEmptySelector(match.objectSelector) && !selects(match.objectSelector, request.labels)) return NO;
  const inside = inNamespace(match, request, namespace);
  if (inside === false) return NO;
  return inside === 'unknown' ? { type: 'unknown', reason: unknownNamespace(request.namespace ?? '') } : matched;
}

function asRequested({ resource, type }: Request): Match {
  return { type: 'yes', resource, apiVersion: type.apiVersion };
}

function byRules(rules: readonly ResourceRule[], equivalent: boolean, request: Request): Match {
  if (rules.some((rule) => fits(rule, request, request.resource))) return asRequested(request);
  if (!equivalent) return NO;
  for (const rule of rules) {
    for (const { apiVersion, convertible } of request.type.others) {
      const resource = resourceOf(request.type, apiVersion);
      if (!fits(rule, request, resource)) continue;
      if (convertible) return { type: 'yes', resource, apiVersion };
      return { type: 'unknown', reason: `it needs ${request.type.kind} converted to ${apiVersion}` };
    }
  }
  return NO;
}

function fits(rule: ResourceRule, request: Request, resource: Resource): boolean {
  return (
    inScope(rule, request) &&
    includesValue(rule.operations, OPERATION) &&
    includesValue(rule.apiGroups, resource.group) &&
    includesValue(rule.apiVersions, resource.version) &&
    rule.resources.some((pattern) => meansResource(pattern, resource.plural)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(request.object.metadata.name))
  );
}

function includesValue(patterns: readonly string[], value: string): boolean {
  return patterns.includes('*') || patterns.includes(value);
}

/** True if the pattern includes the object itself, not only a subresource: `x`, `*`, `x/*` or `*\/*`. */
function meansResource(pattern: string, plural: string): boolean {
  const [resource, subresource = ''] = pattern.split(/\/(.*)/s);
  return (resource === '*' || resource === plural) && (subresource === '' || subresource === '*');
}

function inScope({ scope }: ResourceRule, { namespace, type }: Request): boolean {
  const namespaced = type.kind !== 'Namespace' && namespace !== undefined;
  switch (scope) {
    case 'Namespaced':
      return namespaced;
    case 'Cluster':
      return !namespaced;
    default:
      return true;
  }
}

/**
 * Evaluates the namespace selector. Matches all cluster-scoped objects except Namespaces, whose own labels are
 * compared.
 */
function inNamespace(
  { namespaceSelector }: MatchResources,
  { namespace, object, type }: Request,
  facts: NamespaceFacts,
): boolean | 'unknown' {
  if (namespace === undefined || isEmptySelector(namespaceSelector)) return true;
  if (type.kind === 'Namespace') return selects(namespaceSelector, object.metadata.labels ?? {});
  switch (facts.type) {
    case 'known':
      return selects(namespaceSelector, namespaceLabels(facts.object));
    case 'unknown':
      return 'unknown';
    case 'none':
      return true;
  }
}

/** True if the creation of some object of the kind could match. Ignores selectors and resource names. */
export function mayMatch({ rules, equivalent }: MatchResources, request: Request): boolean {
  return (
    byRules(
      rules.map((rule) => ({ ...rule, resourceNames: [] })),
      equivalent,
      request,
    ).type !== 'no'
  );
}

/** True if the creation of any object could match. False if the rules list only updates, deletions or subresources. */
export function matchesCreations({ rules }: MatchResources): boolean {
  return rules.some(
    ({ operations, resources }) =>
      includesValue(operations, OPERATION) && resources.some((pattern) => !/\/[^*]/.test(pattern)),
  );
}
