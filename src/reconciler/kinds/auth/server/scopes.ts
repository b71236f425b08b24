// Computes the scopes that an embedded authorization server issues, and finds settings that name other scopes.

import { AUTH_SERVER_SCOPES } from '#contracts/auth-server/config.ts';
import type { Finding } from '../../kind.ts';
import type { AuthServer } from './providers.ts';

/**
 * Returns the advertised scopes. If the resource advertises no scope other than `openid`, returns the default scopes of
 * an authorization server.
 */
export function authServerScopes(advertised: readonly string[]): string[] {
  const chosen = advertised.some((scope) => scope !== 'openid');
  return chosen ? [...advertised] : [...AUTH_SERVER_SCOPES];
}

/**
 * Finds scopes in baselineClientScopes that the server does not issue. The server would not start with such scopes.
 * `advertised`: scopes of the resource.
 */
export function baselineScopeFindings(
  { baselineClientScopes = [] }: AuthServer,
  advertised: readonly string[],
  pointer: string,
): readonly Finding[] {
  const scopes = authServerScopes(advertised);
  const unknown = baselineClientScopes.filter((scope) => !scopes.includes(scope));
  if (unknown.length === 0) return [];
  const message = `baselineClientScopes of the authorization server names ${unknown.join(', ')}: the server issues only the scopes of the settings for tokens, which are ${scopes.join(', ')}`;
  return [{ code: 'auth-server-scopes', severity: 'error', pointer, message }];
}
