// What tokens are for: resources and scopes, as clients ask for them and as they are granted. Knows nothing about requests.

import type { OAuthError } from './message.ts';
import type { IssuerSettings } from './settings.ts';

/** The `aud` of the tokens: the resource, and what the host accepts. Without a resource, the latter (RFC 8707 section 2). */
export function audienceFor(
  { resources, hostAudience }: IssuerSettings,
  asked: readonly string[],
): readonly string[] | OAuthError {
  const [resource, another] = asked;
  if (another !== undefined) return { error: 'invalid_target', description: 'a token is for one resource: name one' };
  if (resource === undefined) return [hostAudience];
  const known = resources.find((each) => isSameResource(each, resource));
  if (known === undefined)
    return { error: 'invalid_target', description: 'the resource is none that this server gives tokens for' };
  return [...new Set([known, hostAudience])];
}

/** At the token endpoint: at most what was granted (RFC 8707 section 2.2). */
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

/** Clients write `https://host` with a slash at its end, as URLs of it are printed. */
function isSameResource(known: string, asked: string): boolean {
  const url = URL.parse(asked);
  if (url === null || asked.includes('#')) return false;
  return known === asked || URL.parse(known)?.href === url.href;
}

/** All of them where nothing was asked for. */
export function scopesFor({ scopes }: IssuerSettings, asked: string | null): readonly string[] | OAuthError {
  if (asked === null || asked.trim() === '') return scopes;
  const names = [...new Set(asked.trim().split(/ +/))];
  const unknown = names.find((name) => !scopes.includes(name));
  if (unknown === undefined) return names;
  return { error: 'invalid_scope', description: `a scope is not known; there are: ${scopes.join(' ')}` };
}

export function narrowedScopes(granted: readonly string[], asked: string | null): readonly string[] | OAuthError {
  if (asked === null || asked.trim() === '') return granted;
  const names = [...new Set(asked.trim().split(/ +/))];
  if (names.every((name) => granted.includes(name))) return names;
  return { error: 'invalid_scope', description: 'a scope was not granted at the login' };
}
