// What sort of token may be accepted at all: an access token that is good for whoever bears it. Says nothing about who
// issued it, nor whether it is genuine.

import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import { type JsonObject, shownText } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import type { Refusal } from './rejection.ts';

/**
 * `typ` of access tokens: RFC 9068 section 2.1, and what was written before it. Any other is a token for something else,
 * such as a logout token or a proof of possession, that the same keys sign (RFC 8725 section 3.11).
 */
const TOKEN_TYPES: readonly string[] = ['jwt', 'at+jwt', 'application/at+jwt'];

/** `allowed`: further types that the provider is known to use. Types of media have no case (RFC 7515 section 4.1.9). */
function checkType(typ: unknown, allowed: readonly string[] = []): Refusal | undefined {
  if (typ === undefined) return undefined;
  if (typeof typ === 'string') {
    const folded = typ.toLowerCase();
    if (TOKEN_TYPES.includes(folded) || allowed.some((each) => each.toLowerCase() === folded)) return undefined;
  }
  return { reason: 'type-refused', type: excerpt(shownText(typ)) };
}

/** RFC 7800 section 3.1: it is good only together with a proof, which no one here checks. */
export function checkBearer({ cnf }: JsonObject): Refusal | undefined {
  return cnf === undefined || cnf === null ? undefined : { reason: 'token-bound' };
}

/** Of what a token says of itself, unverified; undefined for one that is no JWT: only its provider can read it. */
export function checkForm(token: string, allowed: readonly string[] | undefined): Refusal | undefined {
  const header = decodeQuietly(() => decodeProtectedHeader(token));
  if (header === undefined) return undefined;
  const refusal = checkType(header.typ, allowed);
  if (refusal !== undefined) return refusal;
  const claims = decodeQuietly(() => decodeJwt(token) as JsonObject);
  return claims && checkBearer(claims);
}

/** jose throws different classes for different flaws; all of them mean that it is no JWT. */
function decodeQuietly<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
