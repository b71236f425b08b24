// Reads the claims of a person's access token at a provider, for policies. The signature is not verified, because the
// keys may be known only to the token's audience. The token came from the provider's token endpoint and is stored
// encrypted.

import { decodeJwt } from 'jose';
import { checkLifetime } from '#auth/claims.ts';
import { setBounded } from '#std/bounded.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerPorts } from './ports.ts';

const KEPT_MAX = 20_000;
/** Claims without a subject. Every policy denies such a caller. */
const NOTHING: JsonObject = {};

/**
 * Returns the claims, with the same object for the same token. Returns an empty object if the token is not a JWT, has
 * expired or is not yet valid.
 */
export type ReadUpstreamClaims = (provider: string, token: string) => JsonObject;

export function createUpstreamClaims({ clock, notify }: Pick<IssuerPorts, 'clock' | 'notify'>): ReadUpstreamClaims {
  const kept = new Map<string, JsonObject>();
  const opaque = new Set<string>();

  function warnOnce(provider: string): void {
    if (opaque.has(provider)) return;
    opaque.add(provider);
    const message = `access tokens of ${provider} are not JWTs, so policies deny everything: name another primaryUpstreamProvider`;
    notify({ code: 'issuer-upstream-opaque', level: 'warn', message, data: { provider } });
  }

  return function readUpstreamClaims(provider, token) {
    const claims = kept.get(token) ?? claimsIn(token);
    if (claims === undefined) {
      warnOnce(provider);
      return NOTHING;
    }
    setBounded(kept, token, claims, KEPT_MAX);
    return checkLifetime(claims, clock.now()) === undefined ? claims : NOTHING;
  };
}

function claimsIn(token: string): JsonObject | undefined {
  try {
    const claims: unknown = decodeJwt(token);
    return claims as JsonObject;
  } catch {
    // The caller reports that the token is not a JWT. The error of jose adds nothing.
    return undefined;
  }
}
