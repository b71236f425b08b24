// Sorts policies by the calls that they can decide. For each action, and for each resource that a policy names, a plan
// lists the policies and the data that the engine needs.

import type { PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isArgumentName } from './attributes.ts';
import { type Comparisons, comparisonsOf } from './comparisons.ts';
import type { PolicySet } from './engine.ts';
import type { Entities } from './entities.ts';
import { type Names, policyReads, type Reads, someName, unitedNames, unitedReads } from './reads.ts';
import { ACTION_WORDS, HINTS, POLICY_ACTIONS, type PolicyAction } from './request.ts';
import { type PolicyScope, policyScope, typeAndId } from './scope.ts';

export interface Policy {
  readonly id: string;
  readonly text: string;
  readonly json: PolicyJson;
}

export interface Plan {
  readonly set: PolicySet;
  readonly reads: Reads;
  /** True if at least one policy may permit a call. */
  readonly permits: boolean;
  readonly readsArguments: boolean;
  /**
   * Attributes that policies read from the context or the resource. The attributes of arguments are called
   * `arg_<name>`.
   */
  readonly argumentNames: Names;
  /** Comparisons of arguments. undefined if a policy uses the exact value of an argument. */
  readonly comparisons: Comparisons | undefined;
  readonly readsHints: boolean;
  /** True if policies read entities that are in the policy file but not in the request. */
  readonly readsEntities: boolean;
  /** True if policies read the groups of the caller. */
  readonly readsGroups: boolean;
}

interface ActionPlans {
  /** Plan for resources that no policy names. */
  readonly general: Plan;
  /** Plans for resources that policies name, by the id of the resource. */
  readonly named: ReadonlyMap<string, Plan>;
}

export type Plans = Readonly<Record<PolicyAction, ActionPlans>>;

interface Scoped {
  readonly policy: Policy;
  readonly scope: PolicyScope;
  readonly reads: Reads;
}

export function planPolicies(policies: readonly Policy[], entities: Entities): Plans {
  const actionGroups = entities.list.some(({ uid }) => typeAndId(uid).type === 'Action');
  const scoped = policies.map((policy) => ({
    policy,
    scope: policyScope(policy.json, actionGroups),
    reads: resolvedReads(policyReads(policy.json), entities),
  }));
  const plansOf = (action: PolicyAction) => planAction(scoped, action, entities);
  return {
    call_tool: plansOf('call_tool'),
    get_prompt: plansOf('get_prompt'),
    read_resource: plansOf('read_resource'),
    extension: plansOf('extension'),
  };
}

export function allPlans(plans: Plans): readonly Plan[] {
  return POLICY_ACTIONS.flatMap((action) => [plans[action].general, ...plans[action].named.values()]);
}

/**
 * Widens the reads to all attributes if the policy follows a reference between entities, such as
 * `principal.manager.name`. The referenced entity may be the caller or the resource. Does nothing if the policy file
 * has no entities.
 */
function resolvedReads(reads: Reads, { list }: Entities): Reads {
  if (!reads.further || list.length === 0) return reads;
  return { ...reads, principal: 'all', action: 'all', resource: 'all', entities: true };
}

function planAction(scoped: readonly Scoped[], action: PolicyAction, entities: Entities): ActionPlans {
  const { type } = ACTION_WORDS[action];
  const fitting = scoped.filter(({ scope }) => scope.actions.includes(action) && (scope.resourceType ?? type) === type);
  const unnamed = fitting.filter(({ scope }) => scope.resource === undefined);
  const byId = Map.groupBy(
    fitting.filter(({ scope }) => scope.resource !== undefined),
    ({ scope }) => scope.resource?.id ?? '',
  );
  const named = new Map([...byId].map(([id, own]) => [id, planOf([...unnamed, ...own], entities)]));
  return { general: planOf(unnamed, entities), named };
}

function planOf(scoped: readonly Scoped[], { list }: Entities): Plan {
  const reads = unitedReads(scoped.map((each) => each.reads));
  const argumentNames = unitedNames([reads.context, reads.resource]);
  const isHint = (name: string) => HINTS.some((hint) => hint === name);
  return {
    set: { policies: Object.fromEntries(scoped.map(({ policy }) => [policy.id, policy.text])) },
    reads,
    permits: scoped.some(({ policy }) => policy.json.effect === 'permit'),
    readsArguments: someName(argumentNames, isArgumentName),
    argumentNames,
    comparisons: comparisonsOf(
      scoped.map(({ policy }) => policy.json),
      argumentNames,
    ),
    readsHints: someName(reads.resource, isHint),
    readsEntities: reads.entities && list.length > 0,
    readsGroups: reads.groups,
  };
}

/** Returns the attributes, including claims, that policies read from the principal or the context. */
export function namesOfClaims(plans: readonly Plan[]): Names {
  return unitedNames(plans.flatMap(({ reads }) => [reads.principal, reads.context]));
}
