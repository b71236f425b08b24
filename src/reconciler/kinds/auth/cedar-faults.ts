// Finds every mistake in a text with Cedar policies. Also finds policies about groups of a type that no caller's groups
// have.

import { GROUP_TYPE } from '#contracts/authz-config.ts';
import { type CedarFault, policiesNaming, policyFaults } from '#std/cedar.ts';
import type { JsonObject } from '#std/json.ts';

export interface PolicyFault extends CedarFault {
  readonly code: 'authz-policy-invalid';
}

/** Type of the callers' groups if it differs from GROUP_TYPE. If undefined, policies may name GROUP_TYPE. */
export type GroupType = string | undefined;

/** Returns undefined if `entities` name GROUP_TYPE: policies about this type may then apply. */
export function groupTypeOf({ group_entity_type: type = GROUP_TYPE }: JsonObject, entities: unknown): GroupType {
  const isReachable = type === GROUP_TYPE || String(entities).includes(GROUP_TYPE);
  return isReachable ? undefined : String(type);
}

export function cedarFaults(text: string, groups: GroupType): readonly PolicyFault[] {
  const faults = policyFaults(text);
  if (faults.length > 0) return faults.map((fault) => ({ ...fault, code: 'authz-policy-invalid' }));
  if (groups === undefined) return [];
  const message = `a caller is in no ${GROUP_TYPE}, because the type of its groups is ${groups}: a policy about a ${GROUP_TYPE} would never apply`;
  return policiesNaming(GROUP_TYPE, text).map((place) => ({ ...place, code: 'authz-policy-invalid', message }));
}

/**
 * Returns the message with line and column in the policy. Line and column in the file may differ, because YAML may
 * fold, quote or indent the policy.
 */
export function placedMessage({ line, column, message }: CedarFault): string {
  return `line ${line}, column ${column} of the policy: ${message}`;
}
