// Determines the resources and scopes of tokens from requested and granted values.

import { knownResource } from '#contracts/auth-server/resources.ts';
import type { OAuthError } from './message.ts';
import type { IssuerSettings } from './settings.ts';

/**
 * Returns the `aud` of the tokens: the requested resource and the audience that the host accepts. Without a requested
 * resource, returns only the host's audience (RFC 8707 section 2).
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

/**
 * Returns the audience of tokens for a request to the token endpoint. This audience cannot exceed the granted audience
 * (RFC 8707 section 2.2).
 */
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
 * Returns the requested scopes that the client may have. Ignores other scopes (RFC 6749 section 3.3), because clients
 * request `openid` or `offline_access` at every server. If no requested scope remains, returns all scopes of the
 * client.
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
 * Returns the registered scopes of a client and the baseline. Returns all scopes if the baseline is empty or the client
 * named no scopes.
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
 * Returns the scopes for a request to the token endpoint. Refuses a scope of this server that the login did not grant
 * (RFC 6749 section 6).
 */
export function narrowedScopes(
  { scopes }: Pick<IssuerSettings, 'scopes'>,
  granted: readonly string[],
  asked: string | null,
): readonly string[] | OAuthError {
  // Granted scopes may have been removed from the configuration since the login.
  const known = knownScopes([...scopes, ...granted], asked);
  if (known.length === 0) return granted;
  if (known.every((name) => granted.includes(name))) return known;
  return { error: 'invalid_scope', description: 'a scope was not granted at the login' };
}

function knownScopes(scopes: readonly string[], asked: string | null): readonly string[] {
  return scopeNames(asked ?? '').filter((name) => scopes.includes(name));
}
