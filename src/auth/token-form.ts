// Checks the form of a token: it must be an access token that needs no further proof. Issuer and signature are checked
// elsewhere.

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { type JsonObject, shownText } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import type { TokenRefusal } from './rejection.ts';

/**
 * Values of `typ` in access tokens: RFC 9068 section 2.1, and older values. The same keys also sign tokens of other
 * types, such as logout tokens and proofs of possession (RFC 8725 section 3.11).
 */
const TOKEN_TYPES: readonly string[] = ['jwt', 'at+jwt', 'application/at+jwt'];

/** `allowed` are further types of the provider. Media types are case-insensitive (RFC 7515 section 4.1.9). */
function checkType(typ: unknown, allowed: readonly string[] = []): TokenRefusal | undefined {
  if (typ === undefined) return undefined;
  if (typeof typ === 'string') {
    const folded = typ.toLowerCase();
    if (TOKEN_TYPES.includes(folded) || allowed.some((each) => each.toLowerCase() === folded)) return undefined;
  }
  return { reason: 'type-refused', type: excerpt(shownText(typ)) };
}

/** Refuses a token that is valid only with a proof (RFC 7800 section 3.1), which this program does not check. */
export function checkBearer({ cnf }: JsonObject): TokenRefusal | undefined {
  return cnf === undefined || cnf === null ? undefined : { reason: 'token-bound' };
}

/**
 * Checks the unverified header and claims of a token. Returns undefined if the token is not a JWT: only the provider
 * can read such a token.
 */
export function checkForm(token: string, allowed: readonly string[] | undefined): TokenRefusal | undefined {
  const header = decodeQuietly(() => decodeProtectedHeader(token));
  if (header === undefined) return undefined;
  const refusal = checkType(header.typ, allowed);
  if (refusal !== undefined) return refusal;
  const claims = decodeQuietly(() => decodeJwt(token) as JsonObject);
  return claims && checkBearer(claims);
}

/** Returns undefined if the token is not a JWT. jose throws different error classes for invalid tokens. */
function decodeQuietly<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
