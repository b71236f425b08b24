// Checks whether an authorization server has a certain upstream provider.

import type { Static } from '#std/schema.ts';
import type { EmbeddedAuthServer } from './server.ts';

export type AuthServer = Static<typeof EmbeddedAuthServer>;

/**
 * Returns undefined if the provider issues id_tokens, which only providers of type oidc do. If it issues none, returns
 * the reason as the end of a sentence about the server. If `provider` is undefined, checks the first provider.
 */
export function idTokenFault(provider: string | undefined, server: AuthServer | undefined): string | undefined {
  const [first] = server?.upstreamProviders ?? [];
  const name = provider ?? first?.name;
  if (server === undefined || name === undefined) return 'is missing: only a login has an id_token';
  const fault = providerFault(name, server);
  const type = server.upstreamProviders.find((each) => each.name === name)?.type;
  return fault ?? (type === 'oidc' ? undefined : `has a provider "${name}" of type oauth2, which gives no id_token`);
}

/**
 * Returns the end of a sentence about the server (`has no upstream provider ...`); undefined if the server has the
 * provider.
 */
export function providerFault(provider: string, server: AuthServer | undefined): string | undefined {
  const providers = server?.upstreamProviders.map(({ name }) => name) ?? [];
  if (providers.includes(provider)) return undefined;
  const known = providers.length === 0 ? 'there is none' : `there is ${providers.join(', ')}`;
  return `has no upstream provider "${provider}": ${known}`;
}
