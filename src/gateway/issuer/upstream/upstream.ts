// Defines the interface of a provider that people log in with. OpenID Connect and OAuth 2.0 providers implement this
// interface.

import { Failure } from '#std/failure.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerCode } from '../codes.ts';

export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
  /**
   * True if the provider sent no lifetime. `expiresAtMs` is then the time of the next refresh. Without a refresh token,
   * the access token is used for the lifetime of the session, because tokens of GitHub and Slack do not expire.
   */
  readonly isExpiryAssumed: boolean;
  /** Newest id_token of the login. undefined if the provider sends none. */
  readonly idToken?: string;
  /** Id of the person at the provider. A refreshed token must have the same id. */
  readonly subject: string;
}

export interface UpstreamLogin {
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  readonly tokens: UpstreamTokens;
}

/** Random texts of one visit to a provider. */
export interface Visit {
  readonly state: string;
  readonly nonce: string;
  /** PKCE verifier of RFC 7636. */
  readonly verifier: string;
}

/** Provider. Methods reject with a Failure: `issuer-upstream-…` for a failure of the provider. */
export interface Upstream {
  readonly name: string;
  /** Host on which people log in, for display. */
  readonly host: string;
  readonly redirectUri: string;
  authorizationUrl(visit: Visit): Promise<string>;
  /** Exchanges the code for tokens and the person's identity. `parameters` are the parameters of the callback. */
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

/** Converts failures of requests to failures of the provider. Throws all other errors again, because they are bugs. */
export function asUpstreamFailure(provider: string, error: unknown): Failure {
  if (!(error instanceof Failure)) throw error;
  if (error.code.startsWith('issuer-upstream-')) return error;
  const invalid = ['outbound-too-large', 'provider-issuer-mismatch', 'provider-url-insecure'].includes(error.code);
  return upstreamFailure(provider, invalid ? 'invalid' : 'unavailable', error.message, error);
}
