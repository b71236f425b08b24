// Finds every mistake in a text with Cedar policies, with its place in the text, and policies that rest on groups of callers.

import { type CedarFault, policiesNaming, policyFaults } from '#std/cedar.ts';

export interface PolicyFault extends CedarFault {
  readonly code: 'authz-policy-invalid' | 'field-not-supported';
}

/** The type of the groups that the existing platform puts callers into, by their claims `groups`, `roles` and `cognito:groups`. */
const GROUP_TYPE = 'THVGroup';

/** A caller is in no group: a policy about one would not apply, and a `forbid` would forbid nothing. */
export const GROUPS_NOT_SUPPORTED = `a caller has its claims as attributes, and is in no ${GROUP_TYPE}. Write context.claim_groups.contains("<group>") instead`;

export function cedarFaults(text: string): readonly PolicyFault[] {
  const faults = policyFaults(text);
  if (faults.length > 0) return faults.map((fault) => ({ ...fault, code: 'authz-policy-invalid' }));
  return policiesNaming(GROUP_TYPE, text).map((place) => {
    return {
      ...place,
      code: 'field-not-supported',
      message: `${GROUP_TYPE} is not supported: ${GROUPS_NOT_SUPPORTED}`,
    };
  });
}

/** Line and column are those of the policy: in the file it may be folded, quoted or indented. */
export function placedMessage({ line, column, message }: CedarFault): string {
  return `line ${line}, column ${column} of the policy: ${message}`;
}
