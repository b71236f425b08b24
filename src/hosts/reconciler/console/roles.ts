// Gives people roles by rules about the claims of their id_token. A claim that is missing gives nothing.

import type { Person } from '#reconciler/control/ports.ts';
import { isObject, type Json, valueAtPointer } from '#std/json.ts';
import type { LoginConfig } from '../../config/login.ts';

type RoleRule = LoginConfig['roles'][number];
/** The claim of the address, by its name and as a JSON pointer. */
const EMAIL = ['email', '/email'];

type Claims = Readonly<Record<string, unknown>>;

export function personOf(claims: Claims, rules: readonly RoleRule[]): Person {
  const applying = rules.filter((rule) => applies(claims, rule));
  const name = shownName(claims);
  if (applying.length === 0) return { name };
  const operating = applying.filter(({ role }) => role === 'operator');
  if (operating.length === 0) return { name, role: 'viewer' };
  if (operating.some(({ namespaces }) => namespaces === undefined)) return { name, role: 'operator' };
  return { name, role: 'operator', namespaces: operating.flatMap(({ namespaces = [] }) => namespaces) };
}

function applies(claims: Claims, { claim, values }: RoleRule): boolean {
  // Some providers let people write any address.
  if (EMAIL.includes(claim) && claims.email_verified !== true) return false;
  const value = claimOf(claims, claim);
  const given = Array.isArray(value) ? value : [value];
  return given.some((each) => (typeof each === 'string' || typeof each === 'boolean') && values.includes(String(each)));
}

/** A name that begins with a slash is a JSON pointer: names of claims may contain dots. */
function claimOf(claims: Claims, claim: string): unknown {
  if (!claim.startsWith('/')) return Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  return isObject(claims) ? valueAtPointer(claims as Json, claim) : undefined;
}

/** Names that people can choose themselves do not identify them in a record: the address counts only if it is verified. */
function shownName({ email, email_verified: isVerified, sub }: Claims): string {
  return typeof email === 'string' && email !== '' && isVerified === true ? email : String(sub);
}
