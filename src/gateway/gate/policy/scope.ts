// Which calls a policy can have a say in, by its scope: for all others the engine need not see it.

import type { EntityUidJson, PolicyJson } from '@cedar-policy/cedar-wasm/nodejs';
import { POLICY_ACTIONS, type PolicyAction } from './request.ts';

export interface PolicyScope {
  readonly actions: readonly PolicyAction[];
  /** The only resource that it is about; absent where there may be several. */
  readonly resource?: { readonly type: string; readonly id: string };
  /** The only type of resource that it is about. */
  readonly resourceType?: string;
}

/** `actionGroups`: entities are known that may group actions, so that `in` can mean more than it names. */
export function policyScope({ action, resource }: PolicyJson, actionGroups: boolean): PolicyScope {
  const actions = scopeActions(action, actionGroups);
  if (resource.op === '==' && 'entity' in resource) {
    const entity = typeAndId(resource.entity);
    return { actions, resource: entity, resourceType: entity.type };
  }
  return { actions, resourceType: resource.op === 'is' ? resource.entity_type : undefined };
}

function scopeActions(action: PolicyJson['action'], actionGroups: boolean): readonly PolicyAction[] {
  if (action.op === 'All' || (action.op === 'in' && actionGroups)) return POLICY_ACTIONS;
  const entities = 'entities' in action ? action.entities : 'entity' in action ? [action.entity] : undefined;
  if (entities === undefined) return POLICY_ACTIONS;
  const named = entities.map(typeAndId).filter(({ type }) => type === 'Action');
  return POLICY_ACTIONS.filter((each) => named.some(({ id }) => id === each));
}

export function typeAndId(uid: EntityUidJson): { readonly type: string; readonly id: string } {
  return '__entity' in uid ? uid.__entity : uid;
}
