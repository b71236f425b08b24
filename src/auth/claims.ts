// The claims that every accepted token must have, whoever vouches for them: a signature or an introspection endpoint.

import type { JsonObject } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import type { Refusal } from './rejection.ts';

export interface ExpectedClaims {
  readonly issuer: string;
  readonly audience: string;
}

/** The refusal, or undefined where the claims are right. `nowMs`: milliseconds since 1970; there is no leeway. */
export function checkClaims(claims: JsonObject, expected: ExpectedClaims, nowMs: number): Refusal | undefined {
  return (
    checkIssuer(claims.iss, expected.issuer) ??
    checkAudience(claims.aud, expected.audience) ??
    checkExpiry(claims.exp, nowMs) ??
    checkNotBefore(claims.nbf, nowMs)
  );
}

function checkIssuer(issuer: unknown, expected: string): Refusal | undefined {
  if (issuer === undefined) return { reason: 'claim-missing', claim: 'iss' };
  if (typeof issuer !== 'string') return { reason: 'claim-invalid', claim: 'iss' };
  if (issuer !== expected) return { reason: 'issuer-mismatch', actual: excerpt(issuer) };
  return undefined;
}

function checkAudience(audience: unknown, expected: string): Refusal | undefined {
  if (audience === undefined) return { reason: 'claim-missing', claim: 'aud' };
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (!audiences.every((item) => typeof item === 'string')) return { reason: 'claim-invalid', claim: 'aud' };
  if (!audiences.includes(expected)) {
    return { reason: 'audience-mismatch', actual: audiences.slice(0, 5).map(excerpt) };
  }
  return undefined;
}

function checkExpiry(expiry: unknown, nowMs: number): Refusal | undefined {
  if (expiry === undefined) return { reason: 'claim-missing', claim: 'exp' };
  if (typeof expiry !== 'number') return { reason: 'claim-invalid', claim: 'exp' };
  if (expiry * 1000 <= nowMs) return { reason: 'token-expired', expiredAt: expiry };
  return undefined;
}

function checkNotBefore(notBefore: unknown, nowMs: number): Refusal | undefined {
  if (notBefore === undefined) return undefined;
  if (typeof notBefore !== 'number') return { reason: 'claim-invalid', claim: 'nbf' };
  if (notBefore * 1000 > nowMs) return { reason: 'token-not-yet-valid', validFrom: notBefore };
  return undefined;
}
