// Chooses the cloud role of a caller by claims.

import { roleMatcher } from '#contracts/role-matcher.ts';
import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import type { JsonObject } from '#std/json.ts';
import { configFault } from './config-fault.ts';

export type StsSettings = NonNullable<OutgoingAuthBlocks['aws_sts_config']>;
type Mapping = NonNullable<StsSettings['role_mappings']>[number];
const POINTER = '/aws_sts_config';

const ROLE = /^arn:[a-z0-9-]+:iam::[0-9]{12}:role\/[0-9A-Za-z_+=,.@/-]+$/;

/** Returns the role for these claims. undefined if no mapping matches and no fallback is configured. */
export type ChooseRole = (claims: JsonObject) => string | undefined;

interface Candidate {
  readonly role: string;
  fits(claims: JsonObject): boolean;
}

/**
 * Creates the choice. Tries the mappings in the order of their priority, the lowest number first, and mappings without
 * a priority last. Mappings with equal priorities keep the order of the file. Throws Failure
 * `credential-config-invalid`.
 */
export function createRoleChoice(block: StsSettings): ChooseRole {
  const { role_mappings: mappings = [], fallback_role_arn: fallback } = block;
  if (fallback !== undefined) checkRole(fallback, `${POINTER}/fallback_role_arn`);
  if (fallback === undefined && mappings.length === 0) {
    throw configFault(POINTER, 'has neither role_mappings nor fallback_role_arn: every caller would be refused');
  }
  const candidates = mappings
    .map((mapping, index) => ({ mapping, pointer: `${POINTER}/role_mappings/${index}` }))
    .sort((a, b) => priorityOf(a.mapping) - priorityOf(b.mapping))
    .map(({ mapping, pointer }) => candidateOf(mapping, block.role_claim, pointer));
  return (claims) => candidates.find((candidate) => candidate.fits(claims))?.role ?? fallback;
}

function priorityOf({ priority }: Mapping): number {
  return priority ?? Number.MAX_SAFE_INTEGER;
}

function candidateOf(mapping: Mapping, roleClaim: string, pointer: string): Candidate {
  const { claim, matcher: expression, role_arn: role } = mapping;
  checkRole(role, `${pointer}/role_arn`);
  if (claim !== undefined && expression === undefined)
    return { role, fits: (claims) => contains(claims[roleClaim], claim) };
  if (expression === undefined || claim !== undefined)
    throw configFault(pointer, 'needs exactly one of claim and matcher');
  const matcher = roleMatcher(expression);
  if (matcher.type === 'fault') {
    throw configFault(`${pointer}/matcher`, `is not a CEL expression over claims: ${matcher.message}`);
  }
  // If the expression cannot be evaluated with the claims, the mapping does not match.
  return { role, fits: matcher.matches };
}

/**
 * Returns whether the claim contains the whole value. `no-admin` does not contain `admin`. A text is treated as one
 * value, because some providers send a text for a person with one group.
 */
function contains(value: unknown, expected: string): boolean {
  return Array.isArray(value) ? value.includes(expected) : value === expected;
}

function checkRole(role: string, pointer: string): void {
  if (!ROLE.test(role))
    throw configFault(pointer, 'is not the resource name of a role (arn:aws:iam::123456789012:role/name)');
}
