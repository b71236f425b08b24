// Checks whether an authorization server has an upstream provider.

import type { Static } from '#std/schema.ts';
import type { EmbeddedAuthServer } from './server.ts';

export type AuthServer = Static<typeof EmbeddedAuthServer>;

/** Returns the end of a sentence about the server; undefined if it has the provider. */
export function providerFault(provider: string, server: AuthServer | undefined): string | undefined {
  const providers = server?.upstreamProviders.map(({ name }) => name) ?? [];
  if (providers.includes(provider)) return undefined;
  const known = providers.length === 0 ? 'there is none' : `there is ${providers.join(', ')}`;
  return `has no upstream provider "${provider}": ${known}`;
}
