// The Secrets that an MCPExternalAuthConfig names. Knows nothing about whether they exist: without them nothing that uses
// the configuration could start, so each is needed.

import type { Static } from '#std/schema.ts';
import { authServerReferences, secretReference } from '../auth/auth-server-references.ts';
import type { ExternalAuth } from '../auth/external-auth.ts';
import type { Reference } from '../kind.ts';

export function references({ spec }: { readonly spec: Static<typeof ExternalAuth> }): readonly Reference[] {
  const { tokenExchange, headerInjection, bearerToken, embeddedAuthServer } = spec;
  return [
    ...secretReference(tokenExchange?.clientSecretRef, '/spec/tokenExchange/clientSecretRef'),
    ...secretReference(headerInjection?.valueSecretRef, '/spec/headerInjection/valueSecretRef'),
    ...secretReference(bearerToken?.tokenSecretRef, '/spec/bearerToken/tokenSecretRef'),
    ...authServerReferences(embeddedAuthServer, '/spec/embeddedAuthServer'),
  ];
}
