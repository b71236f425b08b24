// Lists the Secrets and ConfigMaps that an MCPExternalAuthConfig names. Pods that use its settings do not start without
// them.

import type { Static } from '#std/schema.ts';
import { bundleReferences } from '../auth/ca-bundle.ts';
import type { ExternalAuth } from '../auth/external-auth.ts';
import { authServerReferences, secretReference } from '../auth/server/references.ts';
import type { Reference } from '../kind.ts';

export function references({ spec }: { readonly spec: Static<typeof ExternalAuth> }): readonly Reference[] {
  const { tokenExchange, headerInjection, bearerToken, embeddedAuthServer, xaa } = spec;
  return [
    ...secretReference(tokenExchange?.clientSecretRef, '/spec/tokenExchange/clientSecretRef'),
    ...bundleReferences(tokenExchange?.caBundleRef, '/spec/tokenExchange/caBundleRef'),
    ...secretReference(headerInjection?.valueSecretRef, '/spec/headerInjection/valueSecretRef'),
    ...secretReference(bearerToken?.tokenSecretRef, '/spec/bearerToken/tokenSecretRef'),
    ...secretReference(xaa?.idpClientSecretRef, '/spec/xaa/idpClientSecretRef'),
    ...secretReference(xaa?.targetClientSecretRef, '/spec/xaa/targetClientSecretRef'),
    ...authServerReferences(embeddedAuthServer, '/spec/embeddedAuthServer'),
  ];
}
