// Keeps objects unchanged if the policies of the instance deny them. A denied resource is treated like an invalid
// resource. If a child is denied, all children of its resource are kept unchanged.

import type { Finding } from '#kubernetes/rules/finding.ts';
import { restoreObject } from '#kubernetes/rules/large-values.ts';
import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import { builtinAsAdmitted } from '#kubernetes/rules/policy/admitted.ts';
import type { PolicyEvaluator } from '#kubernetes/rules/policy/evaluator.ts';
import type { Problem } from '#std/problem.ts';
import { type Desires, heldOwner } from '../desire/desire.ts';
import type { OwnKinds, Rendering } from '../instance.ts';
import type { Cluster } from '../ports.ts';
import type { Gathered } from '../read/gather.ts';
import type { Sourced } from '../read/sourced.ts';
import type { Resolved, Standing } from '../resolve/resolve.ts';
import { definitionsAmong, readLiveFacts } from './facts.ts';
import { admittedObject, evaluateAll, openPolicies, type PolicyRequest } from './policies.ts';

export interface Enforced {
  readonly gathered: Gathered;
  /** Evaluates children after they are computed; absent if the instance has no policies. */
  readonly evaluator?: PolicyEvaluator;
}

/** Evaluates the declared resources. Resources that are invalid or left alone are not evaluated. */
export async function enforce(
  { cluster }: { readonly cluster: Cluster },
  { policies, kinds, apiGroup }: OwnKinds & Pick<Rendering, 'policies'>,
  gathered: Gathered,
  leftAlone: { has(key: string): boolean },
): Promise<Enforced> {
  if (policies === undefined) return { gathered };
  const broken = new Set(gathered.invalid.map(keyOf));
  const sound = gathered.loaded.filter(({ id }) => !broken.has(keyOf(id)) && !leftAlone.has(keyOf(id)));
  const [definitions, served] = [definitionsAmong(gathered.loaded), await cluster.resources()];
  const evaluatorFor = async (declared: readonly Sourced[]): Promise<PolicyEvaluator> => {
    const facts = await readLiveFacts(cluster, policies, declared);
    return openPolicies({ policies, kinds, apiGroup, definitions, served, facts });
  };
  const first = await evaluatorFor(sound);
  // A denied namespace is not applied, so policies must not see its declared labels when they evaluate other objects.
  const refused = evaluateAll(
    first,
    sound.filter(isNamespace).map((resource) => requestFor(resource)),
  ).denied;
  const evaluator = refused.size === 0 ? first : await evaluatorFor(sound.filter((resource) => !refused.has(resource)));
  const { problems, denied } = evaluateAll(evaluator, await requestsFor(evaluator, sound));
  return {
    gathered: {
      ...gathered,
      invalid: [...gathered.invalid, ...[...denied.keys()].map(({ id }) => id)],
      problems: [...gathered.problems, ...problems],
    },
    evaluator,
  };
}

function requestFor(resource: Sourced): PolicyRequest<Sourced> {
  return { of: resource, object: admittedObject(resource), resource };
}

/**
 * Returns the objects to evaluate. Objects with long values are evaluated here, one after the other. So at most one
 * object is in memory with its long values.
 */
async function requestsFor(
  evaluator: PolicyEvaluator,
  resources: readonly Sourced[],
): Promise<readonly PolicyRequest<Sourced>[]> {
  const all: PolicyRequest<Sourced>[] = [];
  for (const resource of resources) {
    const { object, contents } = resource;
    const short = requestFor(resource);
    if (contents === undefined) all.push(short);
    else {
      const whole = restoreObject(object, await contents());
      all.push({ ...short, result: evaluator(admittedObject({ ...resource, object: whole })) });
    }
  }
  return all;
}

function isNamespace({ id }: Sourced): boolean {
  return id.apiVersion === 'v1' && id.kind === 'Namespace';
}

export interface ChildrenEnforced {
  readonly resolved: Resolved;
  readonly allDesires: Desires;
  readonly problems: readonly Problem[];
}

/** Keeps all children of a resource unchanged if one child is denied. A mix of old and new children may not work. */
export function enforceOnChildren(
  evaluator: PolicyEvaluator | undefined,
  resolved: Resolved,
  allDesires: Desires,
): ChildrenEnforced {
  if (evaluator === undefined) return { resolved, allDesires, problems: [] };
  const owners = new Map(resolved.standings.map((standing) => [keyOf(standing.loaded.id), standing.loaded]));
  const { problems, denied } = evaluateAll(evaluator, admittedChildren(allDesires, owners));
  if (denied.size === 0) return { resolved, allDesires, problems };
  return {
    resolved: { ...resolved, standings: resolved.standings.map((standing) => refusedBy(standing, denied)) },
    allDesires: {
      ...allDesires,
      objects: allDesires.objects.filter(({ owner }) => owner === undefined || !isDenied(denied, keyOf(owner))),
      heldOwners: new Set([...allDesires.heldOwners, ...[...denied.keys()].map(({ id }) => heldOwner(id))]),
    },
    problems,
  };
}

function admittedChildren({ objects }: Desires, owners: ReadonlyMap<string, Sourced>) {
  return objects.flatMap(({ object, owner }) => {
    const resource = owner === undefined ? undefined : owners.get(keyOf(owner));
    const admitted: KubeObject = builtinAsAdmitted(object);
    return resource === undefined ? [] : [{ of: resource, object: admitted, resource, child: true as const }];
  });
}

function isDenied(denied: ReadonlyMap<Sourced, Problem>, key: string): boolean {
  return [...denied.keys()].some(({ id }) => keyOf(id) === key);
}

function refusedBy(standing: Standing, denied: ReadonlyMap<Sourced, Problem>): Standing {
  const problem = denied.get(standing.loaded);
  if (problem === undefined) return standing;
  // The code of the finding becomes the reason of a condition. A reason must not contain the name of a policy.
  const finding: Finding = {
    code: 'child-denied',
    severity: 'error',
    message: `${problem.code}: ${problem.message}`,
    pointer: '',
  };
  return { ...standing, health: 'refused', findings: [...standing.findings, finding] };
}
