// Determines the resources and scopes of tokens, as requested and as granted.

import { knownResource } from '#contracts/auth-server/resources.ts';
import type { OAuthError } from './message.ts';
import type { IssuerSettings } from './settings.ts';

/**
 * Returns the `aud` of the tokens: the resource, and the audience that the host accepts. Without a resource, returns
 * only the host's audience (RFC 8707 section 2).
 */
export function audienceFor(
  { resources, hostAudience }: IssuerSettings,
  asked: readonly string[],
): readonly string[] | OAuthError {
  const [resource, another] = asked;
  if (another !== undefined) return { error: 'invalid_target', description: 'a token is for one resource: name one' };
  if (resource === undefined) return [hostAudience];
  const known = knownResource(resources, resource);
  if (known === undefined)
    return { error: 'invalid_target', description: 'this server issues no tokens for the resource' };
  return [...new Set([known, hostAudience])];
}

/** Returns the audience at the token endpoint: at most the granted audience (RFC 8707 section 2.2). */
export function narrowedAudience(
  settings: IssuerSettings,
  granted: readonly string[],
  asked: readonly string[],
): readonly string[] | OAuthError {
  if (asked.length === 0) return granted;
  const audience = audienceFor(settings, asked);
  if ('error' in audience || audience.every((each) => granted.includes(each))) return audience;
  return { error: 'invalid_target', description: 'the login was for another resource' };
}

/**
 * Returns the scopes that the client may have and requests. Other scopes are ignored (RFC 6749 section 3.3): clients
 * request `openid` or `offline_access` at every server. A request that names no scope of the client counts as a request
 * without `scope` and gets all of the client's scopes.
 */
export function scopesFor(settings: ScopeSettings, client: RegisteredScopes, asked: string | null): readonly string[] {
  const scopes = clientScopes(settings, client);
  const known = knownScopes(scopes, asked);
  return known.length === 0 ? scopes : known;
}

type ScopeSettings = Pick<IssuerSettings, 'scopes' | 'baselineScopes'>;
interface RegisteredScopes {
  readonly scopes?: readonly string[];
}

/**
 * Returns the scopes of a client: its registered scopes and the baseline. Returns all scopes if there is no baseline or
 * the client named no scopes.
 */
export function clientScopes(
  { scopes, baselineScopes }: ScopeSettings,
  { scopes: registered }: RegisteredScopes,
): readonly string[] {
  if (baselineScopes.length === 0 || registered === undefined) return scopes;
  return scopes.filter((scope) => registered.includes(scope) || baselineScopes.includes(scope));
}

export function scopeNames(text: string): readonly string[] {
  return [...new Set(text.trim().split(/ +/))];
}

/**
 * Returns the scopes at the token endpoint. A scope that the server knows and the login did not grant is refused (RFC
 * 6749 section 6).
 */
export function narrowedScopes(
  { scopes }: Pick<IssuerSettings, 'scopes'>,
  granted: readonly string[],
  asked: string | null,
): readonly string[] | OAuthError {
  // Since the login, scopes may have been removed from the configuration.
  const known = knownScopes([...scopes, ...granted], asked);
  if (known.length === 0) return granted;
  if (known.every((name) => granted.includes(name))) return known;
  return { error: 'invalid_scope', description: 'a scope was not granted at the login' };
}

function knownScopes(scopes: readonly string[], asked: string | null): readonly string[] {
  return scopeNames(asked ?? '').filter((name) => scopes.includes(name));
}
