// Describes a caller to policies, as the Cedar entity `Client::"<sub>"` with attributes `claim_<name>` for the claims
// that policies read.

import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '#std/json.ts';
import type { Attributes } from './attributes.ts';
import { callerGroups, type GroupSource } from './groups.ts';
import type { Names } from './reads.ts';
import { cedarValue } from './values.ts';

export interface PolicyCaller {
  readonly subject: string;
  /** Key of the caller. Equal for callers that the policies cannot distinguish, even after a token was refreshed. */
  readonly key: string;
  /** Claims that at least one policy reads, in Cedar's form. */
  readonly claims: Attributes;
  /** Claims that Cedar cannot express. A policy that reads such a claim denies. */
  readonly inexpressible: ReadonlySet<string>;
  /** Groups of the caller. undefined if unknown: policies that read groups then deny. */
  readonly groups: readonly { readonly type: string; readonly id: string }[] | undefined;
}

const CLAIM = 'claim_';

export function isClaimName(name: string): boolean {
  return name.startsWith(CLAIM);
}

/**
 * Returns the caller. `names` are all attributes that policies read. `source` is set if policies read groups. Returns
 * undefined if the subject cannot be the id of a Cedar entity.
 */
export function policyCaller(claims: JsonObject, names: Names, source?: GroupSource): PolicyCaller | undefined {
  const { sub: subject } = claims;
  if (typeof subject !== 'string' || subject === '' || !subject.isWellFormed()) return undefined;
  const read: JsonObject = {};
  for (const name of names === 'all' ? Object.keys(claims).map((claim) => `${CLAIM}${claim}`) : names) {
    const claim = name.slice(CLAIM.length);
    if (isClaimName(name) && Object.hasOwn(claims, claim)) read[name] = claims[claim];
  }
  const attributes: Attributes = {};
  const inexpressible = new Set<string>();
  for (const [name, value] of Object.entries(read)) {
    // A null claim is treated as absent.
    if (value === null || value === undefined) continue;
    const expressed = name.isWellFormed() ? cedarValue(value) : undefined;
    if (expressed === undefined) inexpressible.add(name);
    else attributes[name] = expressed;
  }
  const groups = source === undefined ? [] : callerGroups(claims, source)?.map((id) => ({ type: source.type, id }));
  const key = hash('sha256', canonicalJson([subject, read, [...inexpressible].sort(), groups ?? null]), 'base64url');
  return { subject, key, claims: attributes, inexpressible, groups };
}

/** Adds the claims in `names` to the attributes `to`. Returns false if Cedar cannot express one of these claims. */
export function addClaims({ claims, inexpressible }: PolicyCaller, names: Names, to: Attributes): boolean {
  if (names === 'all') {
    Object.assign(to, claims);
    return inexpressible.size === 0;
  }
  for (const name of names) {
    if (inexpressible.has(name)) return false;
    const value = claims[name];
    if (isClaimName(name) && value !== undefined) to[name] = value;
  }
  return true;
}
