// Evaluates resources with the policies of the instance, and returns problems with their places.

import { groupOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { builtinAsAdmitted } from '#kubernetes/rules/policy/admitted.ts';
import {
  createEvaluator,
  type PolicyEvaluator,
  type PolicyResult,
  type PolicyWorld,
  type Violation,
} from '#kubernetes/rules/policy/evaluator.ts';
import type { ParamSource } from '#kubernetes/rules/policy/params.ts';
import type { PolicySet } from '#kubernetes/rules/policy/read.ts';
import type { NamespaceFacts, ResourceType } from '#kubernetes/rules/policy/request.ts';
import { definedTypes, resourceTable } from '#kubernetes/rules/policy/resource-types.ts';
import type { JsonObject } from '#std/json.ts';
import { formatId, type Problem } from '#std/problem.ts';
import { VERSIONS } from '../../kinds/crd.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { ApiResource } from '../ports.ts';
import type { LoadedResource } from '../read/load.ts';

/** Facts that policies use in addition to the objects in the policy files. */
export interface PolicyFacts {
  readonly namespace: (name: string) => KubeObject | undefined;
  /** Returns the parameters of a kind; undefined if the kind is unknown. */
  readonly params: (apiVersion: string, kind: string) => ParamSource | undefined;
}

export interface PolicyInput {
  readonly policies: PolicySet;
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** CustomResourceDefinitions of kinds that may be evaluated. */
  readonly definitions: readonly JsonObject[];
  /** Further kinds that the cluster serves; absent without a cluster. */
  readonly served?: readonly ApiResource[];
  readonly facts: PolicyFacts;
}

export interface PolicyOutcome<T> {
  /** Problems in the order of the evaluated objects. */
  readonly problems: readonly Problem[];
  /** Objects that must not be applied, each with its first problem. */
  readonly denied: ReadonlyMap<T, Problem>;
  /** Number of violations for which the binding has the action `Audit`. */
  readonly audited: number;
}

/** An object to evaluate, and the resource at whose manifest problems of the object are reported. */
export interface PolicyRequest<T> {
  readonly of: T;
  readonly object: KubeObject;
  readonly resource: LoadedResource;
  /** Result, if the object was already evaluated with its long values. `object` then lacks the long values. */
  readonly result?: PolicyResult;
  /** Set for a child, which has no manifest. Its problems are reported at its owner. */
  readonly child?: true;
}

export function openPolicies(input: PolicyInput): PolicyEvaluator {
  const { policies, kinds, apiGroup, definitions, served = [] } = input;
  const versions = VERSIONS.map((version) => `${apiGroup}/${version}`);
  const ours = kinds.flatMap(({ kind, plural }) =>
    versions.map((apiVersion): ResourceType => {
      const others = versions.filter((other) => other !== apiVersion);
      return {
        ...{ apiVersion, kind, plural, namespaced: true },
        others: others.map((other) => ({ apiVersion: other, convertible: true })),
      };
    }),
  );
  return createEvaluator(policies, {
    typeOf: resourceTable([...servedTypes(served), ...definitions.flatMap(definedTypes), ...ours]),
    namespace: memoised((name) => namespaceFacts(input, name)),
    params: paramsOf(input),
  });
}

/**
 * Returns a type for each served kind. Its versions are marked as not convertible, because discovery does not say which
 * versions the server can convert.
 */
function servedTypes(served: readonly ApiResource[]): ResourceType[] {
  const versions = Map.groupBy(served, ({ apiVersion, kind }) => `${groupOf(apiVersion)}/${kind}`);
  return served.map(({ apiVersion, kind, plural, namespaced }) => {
    const all = (versions.get(`${groupOf(apiVersion)}/${kind}`) ?? []).map((each) => each.apiVersion);
    const others = all.filter((each) => each !== apiVersion);
    return {
      apiVersion,
      kind,
      plural,
      namespaced,
      others: others.map((each) => ({ apiVersion: each, convertible: false })),
    };
  });
}

function memoised<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

function namespaceFacts({ policies, facts }: PolicyInput, name: string): NamespaceFacts {
  const written = policies.objects.find(
    ({ apiVersion, kind, metadata }) => apiVersion === 'v1' && kind === 'Namespace' && metadata.name === name,
  );
  const object = facts.namespace(name) ?? written;
  return object === undefined ? { type: 'unknown', name } : { type: 'known', object };
}

/**
 * Returns a lookup of parameters. An object in the policy files takes precedence over an object of the same name
 * outside of the policy files.
 */
function paramsOf({ policies, facts }: PolicyInput): PolicyWorld['params'] {
  const known = new Map<string, ParamSource | undefined>();
  return (apiVersion, kind) => {
    const key = `${apiVersion} ${kind}`;
    if (!known.has(key)) known.set(key, find(apiVersion, kind));
    return known.get(key);
  };

  function find(apiVersion: string, kind: string): ParamSource | undefined {
    const own = policies.objects.filter((object) => object.apiVersion === apiVersion && object.kind === kind);
    const around = facts.params(apiVersion, kind);
    if (around === undefined) {
      const namespaced = own.some(({ metadata }) => metadata.namespace !== undefined);
      return own.length === 0 ? undefined : { namespaced, objects: own, complete: false };
    }
    const names = new Set(own.map(qualifiedName));
    const others = around.objects.filter((object) => !names.has(qualifiedName(object)));
    return { ...around, objects: [...own, ...others] };
  }
}

function qualifiedName({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Returns the declared object with the defaults of its schema, as admission in the cluster sees it. */
export function admittedObject({ object, kind, defaulted }: LoadedResource): KubeObject {
  return kind === undefined ? builtinAsAdmitted(object) : (defaulted ?? object);
}

export function evaluateAll<T>(evaluator: PolicyEvaluator, requests: Iterable<PolicyRequest<T>>): PolicyOutcome<T> {
  const problems: Problem[] = [];
  const denied = new Map<T, Problem>();
  const unknown = new Map<string, Unevaluated>();
  let audited = 0;
  for (const request of requests) {
    const result = request.result ?? evaluator(request.object);
    for (const violation of result.violations) {
      if (violation.action === 'Audit') {
        audited++;
        continue;
      }
      const problem = policyProblem(request, violation);
      problems.push(problem);
      if (violation.action === 'Deny' && !denied.has(request.of)) denied.set(request.of, problem);
    }
    for (const { policy, reason } of result.unknown) noteUnknown(unknown, request.resource, policy, reason);
  }
  return { problems: [...problems, ...[...unknown.values()].map(unevaluatedProblem)], denied, audited };
}

function policyProblem<T>({ object, resource, child }: PolicyRequest<T>, violation: Violation): Problem {
  const pointer = child === true ? '' : violation.pointer;
  const said = object.kind === 'Secret' ? (violation.discreet ?? violation.message) : violation.message;
  const whose = child === true ? ` (its ${object.kind} ${object.metadata.name})` : '';
  return {
    code: `policy/${violation.policy}`,
    severity: violation.action === 'Deny' ? 'error' : 'warning',
    message: `${said}${whose}`,
    pointer,
    place: resource.place(pointer === '' ? '/metadata/name' : pointer),
    resource: resource.id,
  };
}

/** One reason for which policies could not be evaluated. The reason is reported once, at the first resource. */
interface Unevaluated {
  readonly reason: string;
  readonly first: LoadedResource;
  readonly policies: Set<string>;
  readonly resources: Set<string>;
}

function noteUnknown(
  unknown: Map<string, Unevaluated>,
  resource: LoadedResource,
  policy: string,
  reason: string,
): void {
  const known = unknown.get(reason) ?? { reason, first: resource, policies: new Set(), resources: new Set() };
  known.policies.add(policy);
  known.resources.add(keyOf(resource.id));
  unknown.set(reason, known);
}

const NAMES_MAX = 3;

function policyNames(policies: ReadonlySet<string>): string {
  const names = [...policies].sort();
  const more = names.length - NAMES_MAX;
  return more <= 1 ? names.join(', ') : `${names.slice(0, NAMES_MAX).join(', ')} and ${more} others`;
}

function unevaluatedProblem({ reason, first, policies, resources }: Unevaluated): Problem {
  const who = policies.size === 1 ? `Policy ${policyNames(policies)} was` : `Policies ${policyNames(policies)} were`;
  const what = resources.size === 1 ? formatId(first.id) : `${resources.size} resources, the first of them here`;
  return {
    code: 'policy-not-evaluated',
    severity: 'warning',
    message: `${who} not evaluated for ${what}: ${reason}.`,
    pointer: '',
    place: first.place('/metadata/name'),
    resource: first.id,
  };
}
