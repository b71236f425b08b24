// Defines why a request is refused, and the part of the reason that the client gets.

import { AUTH_CODES } from './codes.ts';
import type { RegistryScope } from './identity.ts';

/** Why one provider did not accept a token. Never contains the token or a secret. */
export type TokenRefusal =
  | { readonly reason: 'token-malformed'; readonly detail: string }
  | { readonly reason: 'algorithm-refused'; readonly algorithm: string }
  | { readonly reason: 'type-refused'; readonly type: string }
  | { readonly reason: 'token-bound' }
  | { readonly reason: 'key-unknown'; readonly kid?: string }
  | { readonly reason: 'key-unusable'; readonly detail: string }
  | { readonly reason: 'signature-invalid' }
  | { readonly reason: 'claim-missing'; readonly claim: string }
  | { readonly reason: 'claim-invalid'; readonly claim: string }
  | { readonly reason: 'token-expired'; readonly expiredAt: number }
  | { readonly reason: 'token-not-yet-valid'; readonly validFrom: number }
  | { readonly reason: 'issuer-mismatch'; readonly actual: string }
  | { readonly reason: 'audience-mismatch'; readonly actual: readonly string[] }
  | { readonly reason: 'account-mismatch'; readonly actual: string }
  | { readonly reason: 'token-inactive' }
  | { readonly reason: 'token-unsupported' }
  | { readonly reason: 'keys-unavailable'; readonly cause: Cause }
  | { readonly reason: 'introspection-unavailable'; readonly cause: Cause };

export interface Cause {
  readonly code: string;
  readonly message: string;
}

export interface ProviderAttempt {
  readonly provider: string;
  readonly method: 'jwt' | 'introspection';
  readonly refusal: TokenRefusal;
}

/** Why the request is refused. */
export type Rejection =
  | { readonly reason: 'credentials-missing' }
  | { readonly reason: 'authorization-repeated'; readonly count: number }
  | { readonly reason: 'authorization-malformed' }
  | { readonly reason: 'token-too-long'; readonly length: number; readonly limit: number }
  | { readonly reason: 'provider-unknown'; readonly issuer?: string }
  | { readonly reason: 'token-refused'; readonly attempts: readonly ProviderAttempt[] }
  /** The login that issued the token has ended before the token expired. */
  | { readonly reason: 'session-ended' }
  /** An unreachable provider might have accepted the token. */
  | { readonly reason: 'token-unjudged'; readonly attempts: readonly ProviderAttempt[] }
  | { readonly reason: 'scope-missing'; readonly scope: RegistryScope; readonly subject?: string };

/** Codes of RFC 6750 section 3.1. Absent if the client sent no bearer token. */
type ChallengeError = 'invalid_request' | 'invalid_token' | 'insufficient_scope';

/** The part that the client gets, with texts of ToolHive. */
export interface PublicRejection {
  /** With 503 the token is neither accepted nor refused. */
  readonly status: 401 | 403 | 503;
  readonly error?: ChallengeError;
  readonly message: string;
  /** Scopes that the token needs, separated by spaces (RFC 6750 section 3). */
  readonly scope?: string;
}

/** Converts a reason for the client. The client gets fewer details on purpose. No other code converts reasons. */
export function publicRejection(rejection: Rejection): PublicRejection {
  switch (rejection.reason) {
    case 'credentials-missing':
      return { status: 401, message: 'missing or malformed authorization header' };
    case 'authorization-repeated':
    case 'authorization-malformed':
      return { status: 401, error: 'invalid_request', message: 'missing or malformed authorization header' };
    case 'token-too-long':
    case 'provider-unknown':
    case 'token-refused':
    case 'session-ended':
      return { status: 401, error: 'invalid_token', message: 'token validation failed' };
    case 'token-unjudged':
      return { status: 503, message: 'tokens cannot be validated at the moment' };
    case 'scope-missing': {
      const { scope } = rejection;
      return { status: 403, error: 'insufficient_scope', message: `the token lacks the scope ${scope}`, scope };
    }
  }
}

/** Combines the refusals of all providers that checked the token. */
export function refusedBy(attempts: readonly ProviderAttempt[]): Rejection {
  const byProvider = Map.groupBy(attempts, ({ provider }) => provider);
  return { reason: [...byProvider.values()].some(isUndecided) ? 'token-unjudged' : 'token-refused', attempts };
}

/** `own` are the attempts at one provider: by signature, then by introspection. */
function isUndecided(own: readonly ProviderAttempt[]): boolean {
  const last = own.at(-1);
  if (last === undefined || !saysNothing(last.refusal)) return false;
  return own.every(({ refusal }) => saysNothing(refusal) || isLeftToIntrospection(refusal));
}

function saysNothing({ reason }: TokenRefusal): boolean {
  return reason === 'keys-unavailable' || reason === 'introspection-unavailable';
}

/** Returns whether only introspection can decide: a token may be valid although no key verifies it. */
function isLeftToIntrospection({ reason }: TokenRefusal): boolean {
  switch (reason) {
    case 'token-malformed':
    case 'algorithm-refused':
    case 'key-unknown':
    case 'key-unusable':
      return true;
    default:
      return false;
  }
}

/** Returns the sentence for the log with meaning and remedy. */
export function explain(reason: Rejection['reason'] | TokenRefusal['reason']): string {
  return AUTH_CODES[reason];
}
