// A provider that people log in with: the contract that OpenID Connect and OAuth 2.0 keep.

import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerCode } from '../codes.ts';

export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  /**
   * True if the provider names no lifetime: `expiresAtMs` then only says when the token is refreshed. Without a refresh token
   * the access token counts for the lifetime of the session, since tokens of GitHub and Slack do not expire.
   */
  readonly isExpiryAssumed: boolean;
  /** The newest id_token of the login; undefined if the provider gives none. */
  readonly idToken?: string;
  /** Of the person at the provider: a refreshed token is of the same. */
  readonly subject: string;
}

export interface UpstreamLogin {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  readonly tokens: UpstreamTokens;
}

/** Random texts of one visit. */
export interface Visit {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly verifier: string;
}

/** Each throws a Failure `issuer-upstream-…`. */
export interface Upstream {
  readonly name: string;
  /** Where people log in, as they know it. */
  readonly host: string;
  readonly redirectUri: string;
  authorizationUrl(visit: Visit): Promise<string>;
  /** `parameters`: those that the browser came back with. */
  redeem(visit: Omit<Visit, 'state'>, parameters: URLSearchParams): Promise<UpstreamLogin>;
  refresh(tokens: UpstreamTokens): Promise<UpstreamTokens>;
}

type UpstreamCode = Extract<IssuerCode, `issuer-upstream-${string}`>;

export function upstreamFailure(
  provider: string,
  kind: 'unavailable' | 'refused' | 'invalid' | 'registration',
  what: string,
  cause?: unknown,
  data: JsonObject = {},
): Failure {
  const code: UpstreamCode = `issuer-upstream-${kind}`;
  const options = { data: { provider, ...data }, retryable: kind === 'unavailable' };
  return new Failure(code, `provider ${provider}: ${what}`, cause === undefined ? options : { ...options, cause });
}

/** Failures of requests, as failures of the provider; anything else is a bug and goes on. */
export function asUpstreamFailure(provider: string, error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  if (error.code.startsWith('issuer-upstream-')) return error;
  const invalid = ['outbound-too-large', 'provider-issuer-mismatch', 'provider-url-insecure'].includes(error.code);
  return upstreamFailure(provider, invalid ? 'invalid' : 'unavailable', error.message, error);
}
