// Reads the groups of a caller from the claims of its token. In policies, groups are entities, and parents of the
// caller.

import { SESSION_CLAIM } from '#auth/identity.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { cedarValue } from './values.ts';

/** Claims that contain groups, and the Cedar type of the groups. */
export interface GroupSource {
  readonly type: string;
  /** Claim that takes precedence over the usual claims. */
  readonly groupClaim?: string;
  /** Claim with roles, which are added to the groups. */
  readonly roleClaim?: string;
}

/** Claims in which identity providers write groups. The first of these claims that a token has is used. */
const USUAL_CLAIMS = ['groups', 'roles', 'cognito:groups'] as const;

/**
 * Returns the groups. undefined if the groups are unknown, because the claim is not a list of texts or the token says
 * that the groups are not in the token.
 */
export function callerGroups(
  claims: JsonObject,
  { groupClaim, roleClaim }: GroupSource,
): readonly string[] | undefined {
  const names = groupClaim === undefined ? USUAL_CLAIMS : [groupClaim, ...USUAL_CLAIMS];
  const claim = names.find((name) => isNamed(claims, name));
  // skep's own authorization server writes no groups into its tokens, even if its provider knows groups of the user.
  if (claim === undefined && Object.hasOwn(claims, SESSION_CLAIM)) return undefined;
  const groups = claim === undefined ? [] : groupsIn(claims, claim);
  const roles = roleClaim === undefined || !isNamed(claims, roleClaim) ? [] : groupsIn(claims, roleClaim);
  return groups === undefined || roles === undefined ? undefined : [...new Set([...groups, ...roles])].sort();
}

/** Returns whether the token has the claim, or says that the claim is elsewhere. */
function isNamed(claims: JsonObject, name: string): boolean {
  return claimAt(claims, name) != null || isElsewhere(claims, name);
}

/**
 * Returns whether the token says that it does not contain the whole claim. `_claim_names` says this (OpenID Connect
 * Core 1.0 section 5.6.2). Entra ID says this with `hasgroups` if the groups are too many for a URL.
 */
function isElsewhere(claims: JsonObject, name: string): boolean {
  const { _claim_names: names, hasgroups: hasGroups } = claims;
  if (name === 'groups' && hasGroups != null && hasGroups !== false) return true;
  if (names == null) return false;
  // The first name of a path is the name of the claim.
  const [first = name] = name.split('.');
  return !isObject(names) || Object.hasOwn(names, name) || Object.hasOwn(names, first);
}

function groupsIn(claims: JsonObject, name: string): readonly string[] | undefined {
  const value = claimAt(claims, name);
  if (!Array.isArray(value) || isElsewhere(claims, name)) return undefined;
  const groups = value.filter((group) => typeof group === 'string' && cedarValue(group) !== undefined);
  return groups.length === value.length ? groups.map(String) : undefined;
}

/**
 * Finds a claim by its whole name, or by the path to a value inside a claim. For example, Keycloak has roles at
 * `realm_access.roles`. If the path leads through a value that is neither an object nor null, returns the text of that
 * value.
 */
function claimAt(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const key of name.split('.')) {
    if (found == null) return undefined;
    if (!isObject(found)) return String(found);
    if (!Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}
