// Checks the form of a token: only an access token that its bearer may use without a further proof is accepted. Other
// files check its issuer and signature.

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { type JsonObject, shownText } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import type { Refusal } from './rejection.ts';

/**
 * `typ` of access tokens: RFC 9068 section 2.1, and older values. Tokens with another `typ`, such as logout tokens or
 * proofs of possession, are signed with the same keys (RFC 8725 section 3.11).
 */
const TOKEN_TYPES: readonly string[] = ['jwt', 'at+jwt', 'application/at+jwt'];

/** `allowed`: further types of the provider. Media types are case-insensitive (RFC 7515 section 4.1.9). */
function checkType(typ: unknown, allowed: readonly string[] = []): Refusal | undefined {
  if (typ === undefined) return undefined;
  if (typeof typ === 'string') {
    const folded = typ.toLowerCase();
    if (TOKEN_TYPES.includes(folded) || allowed.some((each) => each.toLowerCase() === folded)) return undefined;
  }
  return { reason: 'type-refused', type: excerpt(shownText(typ)) };
}

/** RFC 7800 section 3.1: the token is valid only with a proof, which is not checked here. */
export function checkBearer({ cnf }: JsonObject): Refusal | undefined {
  return cnf === undefined || cnf === null ? undefined : { reason: 'token-bound' };
}

/**
 * Checks the unverified header and claims of a token. Returns undefined if the token is not a JWT, because only its
 * provider can read it.
 */
export function checkForm(token: string, allowed: readonly string[] | undefined): Refusal | undefined {
  const header = decodeQuietly(() => decodeProtectedHeader(token));
  if (header === undefined) return undefined;
  const refusal = checkType(header.typ, allowed);
  if (refusal !== undefined) return refusal;
  const claims = decodeQuietly(() => decodeJwt(token) as JsonObject);
  return claims && checkBearer(claims);
}

/** Returns undefined if the token is not a JWT: jose throws different classes for different flaws. */
function decodeQuietly<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
