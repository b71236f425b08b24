// Scopes of an embedded authorization server: the scopes that it issues, and findings about others in its settings.

import { AUTH_SERVER_SCOPES } from '#contracts/auth-server/config.ts';
import type { Finding } from '../../kind.ts';
import type { AuthServer } from './providers.ts';

/** If the resource has no chosen scopes, returns the scopes that clients get without requesting them. */
export function authServerScopes(advertised: readonly string[]): string[] {
  const chosen = advertised.some((scope) => scope !== 'openid');
  return chosen ? [...advertised] : [...AUTH_SERVER_SCOPES];
}

/** `advertised`: scopes of the resource. The server would not start with others. */
export function baselineScopeFindings(
  { baselineClientScopes = [] }: AuthServer,
  advertised: readonly string[],
  pointer: string,
): readonly Finding[] {
  const scopes = authServerScopes(advertised);
  const unknown = baselineClientScopes.filter((scope) => !scopes.includes(scope));
  if (unknown.length === 0) return [];
  const message = `baselineClientScopes of the authorization server names ${unknown.join(', ')}: it issues the scopes of the settings for tokens, which are ${scopes.join(', ')}`;
  return [{ code: 'auth-server-scopes', severity: 'error', pointer, message }];
}
