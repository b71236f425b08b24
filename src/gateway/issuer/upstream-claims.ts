// Reads the claims in a person's access token at a provider, for policies. The token came from the token endpoint of
// the provider and is stored encrypted. Its signature is not checked: possibly only the server that the token is meant
// for knows the keys.

import { decodeJwt } from 'jose';
import { checkLifetime } from '#auth/claims.ts';
import { setBounded } from '#std/bounded.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerPorts } from './ports.ts';

const KEPT_MAX = 20_000;
/** Claims without a subject, for which every policy denies. */
const NOTHING: JsonObject = {};

/**
 * Returns the claims, as the same object for the same token. Returns an empty object if the token is not a JWT or is
 * used outside its lifetime.
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
    // The caller reports that the token is not a JWT; the message of this library adds nothing.
    return undefined;
  }
}
