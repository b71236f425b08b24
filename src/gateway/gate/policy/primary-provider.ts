// Chooses the token whose claims policies read: the caller's token, or the token of an upstream provider.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';

type AuthServerProviders = Pick<AuthServerConfig, 'upstreams' | 'primary_upstream_provider'>;

/**
 * Returns the provider. Returns a fault if the authorization server does not have the provider, or names another
 * provider. `named` is the setting in the policy file.
 */
export function primaryProvider(
  named: string | undefined,
  server: AuthServerProviders | undefined,
): { readonly provider: string | undefined; readonly fault?: undefined } | { readonly fault: string } {
  const own = server?.primary_upstream_provider;
  const provider = named ?? own;
  if (provider === undefined) return { provider };
  if (own !== undefined && own !== provider) {
    return {
      fault: `primary_upstream_provider is ${provider}, but the provider of the authorization server is ${own}`,
    };
  }
  if (server?.upstreams.some(({ name }) => name === provider) === true) return { provider };
  return { fault: `primary_upstream_provider is ${provider}, but no authorization server here has that provider` };
}
