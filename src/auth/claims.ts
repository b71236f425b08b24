// Checks the claims that every accepted token must have.

import { isObject, type JsonObject } from '#std/json.ts';
import { excerpt } from './excerpt.ts';
import type { TokenRefusal } from './rejection.ts';

export interface ExpectedClaims {
  readonly issuer: string;
  readonly audience: string;
  /** If set, only tokens of this service account are accepted. */
  readonly account?: ServiceAccount;
}

/** A service account of a cluster. If `name` is not set, all accounts of the namespace match. */
export interface ServiceAccount {
  readonly namespace: string;
  readonly name?: string;
}

/**
 * Returns the refusal, or undefined if the claims are valid. `nowMs` is in milliseconds since 1970. No clock skew is
 * tolerated.
 */
export function checkClaims(claims: JsonObject, expected: ExpectedClaims, nowMs: number): TokenRefusal | undefined {
  return (
    checkIssuer(claims.iss, expected.issuer) ??
    checkAudience(claims.aud, expected.audience) ??
    checkExpiry(claims.exp, nowMs) ??
    checkNotBefore(claims.nbf, nowMs) ??
    checkAccount(claims, expected.account)
  );
}

/** Returns a refusal if the token is used outside its lifetime. A token without `exp` never expires. */
export function checkLifetime({ exp, nbf }: JsonObject, nowMs: number): TokenRefusal | undefined {
  return (exp === undefined ? undefined : checkExpiry(exp, nowMs)) ?? checkNotBefore(nbf, nowMs);
}

function checkIssuer(issuer: unknown, expected: string): TokenRefusal | undefined {
  if (issuer === undefined) return { reason: 'claim-missing', claim: 'iss' };
  if (typeof issuer !== 'string') return { reason: 'claim-invalid', claim: 'iss' };
  if (issuer !== expected) return { reason: 'issuer-mismatch', actual: excerpt(issuer) };
  return undefined;
}

function checkAudience(audience: unknown, expected: string): TokenRefusal | undefined {
  if (audience === undefined) return { reason: 'claim-missing', claim: 'aud' };
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (!audiences.every((item) => typeof item === 'string')) return { reason: 'claim-invalid', claim: 'aud' };
  if (!audiences.includes(expected)) {
    return { reason: 'audience-mismatch', actual: audiences.slice(0, 5).map(excerpt) };
  }
  return undefined;
}

function checkExpiry(expiry: unknown, nowMs: number): TokenRefusal | undefined {
  if (expiry === undefined) return { reason: 'claim-missing', claim: 'exp' };
  if (typeof expiry !== 'number') return { reason: 'claim-invalid', claim: 'exp' };
  if (expiry * 1000 <= nowMs) return { reason: 'token-expired', expiredAt: expiry };
  return undefined;
}

function checkNotBefore(notBefore: unknown, nowMs: number): TokenRefusal | undefined {
  if (notBefore === undefined) return undefined;
  if (typeof notBefore !== 'number') return { reason: 'claim-invalid', claim: 'nbf' };
  if (notBefore * 1000 > nowMs) return { reason: 'token-not-yet-valid', validFrom: notBefore };
  return undefined;
}

const CLUSTER_CLAIM = 'kubernetes.io';

/**
 * Checks the claims of service account tokens. The claim `kubernetes.io` and the subject must name the same account.
 */
function checkAccount(claims: JsonObject, expected: ServiceAccount | undefined): TokenRefusal | undefined {
  if (expected === undefined) return undefined;
  const cluster = claims[CLUSTER_CLAIM];
  if (cluster === undefined) return { reason: 'claim-missing', claim: CLUSTER_CLAIM };
  const { namespace, serviceaccount } = isObject(cluster) ? cluster : {};
  const name = isObject(serviceaccount) ? serviceaccount.name : undefined;
  if (typeof namespace !== 'string' || typeof name !== 'string') {
    return { reason: 'claim-invalid', claim: CLUSTER_CLAIM };
  }
  if (claims.sub === undefined) return { reason: 'claim-missing', claim: 'sub' };
  if (claims.sub !== `system:serviceaccount:${namespace}:${name}`) return { reason: 'claim-invalid', claim: 'sub' };
  if (namespace === expected.namespace && (expected.name === undefined || name === expected.name)) return undefined;
  return { reason: 'account-mismatch', actual: excerpt(`${namespace}/${name}`) };
}
