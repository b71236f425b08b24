// Describes a caller to policies: the Cedar entity `Client::"<sub>"` with the claims that they read, `claim_<name>`.

import { hash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '#std/json.ts';
import type { Attributes } from './attributes.ts';
import { callerGroups, type GroupSource } from './groups.ts';
import type { Names } from './reads.ts';
import { cedarValue } from './values.ts';

export interface PolicyCaller {
  readonly subject: string;
  /** Key that is equal for callers that the policies cannot distinguish, also after a token was refreshed. */
  readonly key: string;
  /** Claims that at least one policy reads. */
  readonly claims: Attributes;
  /** Names of claims that Cedar cannot express: a policy that reads one denies. */
  readonly inexpressible: ReadonlySet<string>;
  /** Groups of the caller. Undefined if they are unknown: policies about groups then deny. */
  readonly groups: readonly { readonly type: string; readonly id: string }[] | undefined;
}

const CLAIM = 'claim_';

export function isClaimName(name: string): boolean {
  return name.startsWith(CLAIM);
}

/**
 * Returns the caller. `names` are all claims that policies read, `source` describes the groups if policies read groups.
 * Returns undefined if the subject cannot be an entity's id.
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
    // A null claim counts as absent.
    if (value === null || value === undefined) continue;
    const expressed = name.isWellFormed() ? cedarValue(value) : undefined;
    if (expressed === undefined) inexpressible.add(name);
    else attributes[name] = expressed;
  }
  const groups = source === undefined ? [] : callerGroups(claims, source)?.map((id) => ({ type: source.type, id }));
  const key = hash('sha256', canonicalJson([subject, read, [...inexpressible].sort(), groups ?? null]), 'base64url');
  return { subject, key, claims: attributes, inexpressible, groups };
}

/** Adds the named claims. Returns false if Cedar cannot express a named claim. */
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
