// Determines from a policy's scope which calls the policy can affect. The engine does not get the policy for all other
// calls.

import type { EntityUidJson, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { POLICY_ACTIONS, type PolicyAction } from './request.ts';

export interface PolicyScope {
  readonly actions: readonly PolicyAction[];
  /** The only resource that the policy applies to. Absent if the policy may apply to several resources. */
  readonly resource?: { readonly type: string; readonly id: string };
  /** The only type of resource that the policy applies to. */
  readonly resourceType?: string;
}

/**
 * Returns the scope. If `actionGroups` is true, the policy file groups actions, so `in` may cover more actions than the
 * policy names. A method of an extension may have any effect, so only a policy that names the action `extension`
 * permits such a method.
 */
export function policyScope({ effect, action, resource }: PolicyJson, actionGroups: boolean): PolicyScope {
  const mayMean = scopeActions(action, actionGroups);
  const actions = effect === 'permit' && !namesExtension(action) ? mayMean.filter(isOfProtocol) : mayMean;
  if (resource.op === '==' && 'entity' in resource) {
    const entity = typeAndId(resource.entity);
    return { actions, resource: entity, resourceType: entity.type };
  }
  return { actions, resourceType: resource.op === 'is' ? resource.entity_type : undefined };
}

function namesExtension(action: PolicyJson['action']): boolean {
  return namedActions(action)?.some(({ type, id }) => type === 'Action' && id === 'extension') === true;
}

function isOfProtocol(action: PolicyAction): boolean {
  return action !== 'extension';
}

function scopeActions(action: PolicyJson['action'], actionGroups: boolean): readonly PolicyAction[] {
  if (action.op === 'All' || (action.op === 'in' && actionGroups)) return POLICY_ACTIONS;
  const named = namedActions(action)?.filter(({ type }) => type === 'Action');
  return named === undefined ? POLICY_ACTIONS : POLICY_ACTIONS.filter((each) => named.some(({ id }) => id === each));
}

/** Returns the actions that the scope names. undefined if the scope names no actions. */
function namedActions(
  action: PolicyJson['action'],
): readonly { readonly type: string; readonly id: string }[] | undefined {
  if ('entities' in action) return action.entities.map(typeAndId);
  return 'entity' in action ? [typeAndId(action.entity)] : undefined;
}

export function typeAndId(uid: EntityUidJson): { readonly type: string; readonly id: string } {
  return '__entity' in uid ? uid.__entity : uid;
}
