// Checks form, algorithm, signature and claims of a JWT (RFC 8725).

import type { ProtectedHeaderParameters } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import * as errors from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';
import { decodeJwt } from 'jose/jwt/decode';
import { isObject, type JsonObject, shownText } from '#std/json.ts';
import { checkClaims, type ExpectedClaims } from './claims.ts';
import { excerpt } from './excerpt.ts';
import type { KeyLookup, KeyResult } from './jwks.ts';
import type { TokenRefusal } from './rejection.ts';
import { checkForm } from './token-form.ts';

/** Only algorithms with public keys: a key that verifies an HMAC can also sign, and `none` has no signature. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export type TokenResult =
  | { readonly ok: true; readonly claims: JsonObject }
  | { readonly ok: false; readonly refusal: TokenRefusal };

/** Checks a JWT that is a bearer token. `nowMs` is in milliseconds since 1970. */
export async function checkAccessToken(
  findKey: KeyLookup,
  token: string,
  { tokenTypes, ...expected }: ExpectedClaims & { readonly tokenTypes?: readonly string[] },
  nowMs: number,
): Promise<TokenResult> {
  const refusal = checkForm(token, tokenTypes);
  return refusal === undefined ? await checkJwt(findKey, token, expected, nowMs) : { ok: false, refusal };
}

/** Checks signature and claims of a JWT. `nowMs` is in milliseconds since 1970. */
export async function checkJwt(
  findKey: KeyLookup,
  token: string,
  expected: ExpectedClaims,
  nowMs: number,
): Promise<TokenResult> {
  const verified = await verifySignature(findKey, token);
  if (!verified.ok) return verified;
  const refusal = checkClaims(verified.claims, expected, nowMs);
  return refusal === undefined ? verified : { ok: false, refusal };
}

/** Returns the unverified `iss` of a JWT. Returns undefined if the token is not a JWT or has no issuer. */
export function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined;
    throw error;
  }
}

async function verifySignature(findKey: KeyLookup, token: string): Promise<TokenResult> {
  const header = readHeader(token);
  if (header === undefined) return refuseToken({ reason: 'token-malformed', detail: 'no JWS header' });
  const { alg } = header;
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) {
    return refuseToken({ reason: 'algorithm-refused', algorithm: excerpt(shownText(alg)) });
  }
  const lookup = await findKey({ ...header, alg });
  if (lookup.found !== 'key') return refuseToken(keyRefusal(lookup, header.kid));
  try {
    const { payload } = await compactVerify(token, lookup.key, { algorithms: [alg] });
    return claimsOf(payload);
  } catch (error) {
    return refuseToken(signatureRefusal(error));
  }
}

function readHeader(token: string): ProtectedHeaderParameters | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    // jose throws different error classes for unreadable headers.
    return undefined;
  }
}

function keyRefusal(lookup: Exclude<KeyResult, { found: 'key' }>, kid: unknown): TokenRefusal {
  switch (lookup.found) {
    case 'none':
      return { reason: 'key-unknown', kid: typeof kid === 'string' ? excerpt(kid) : undefined };
    case 'unusable':
      return { reason: 'key-unusable', detail: lookup.detail };
    case 'unavailable':
      return { reason: 'keys-unavailable', cause: lookup.cause };
  }
}

function signatureRefusal(error: unknown): TokenRefusal {
  if (error instanceof errors.JWSSignatureVerificationFailed) return { reason: 'signature-invalid' };
  if (error instanceof errors.JOSEError) return { reason: 'token-malformed', detail: error.message };
  // jose refuses RSA keys below 2048 bits with a TypeError. The provider must replace the key.
  if (error instanceof TypeError) return { reason: 'key-unusable', detail: error.message };
  throw error;
}

function claimsOf(payload: Uint8Array): TokenResult {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (isObject(claims)) return { ok: true, claims };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  return refuseToken({ reason: 'token-malformed', detail: 'the claims are not a JSON object' });
}

function refuseToken(refusal: TokenRefusal): { readonly ok: false; readonly refusal: TokenRefusal } {
  return { ok: false, refusal };
}
