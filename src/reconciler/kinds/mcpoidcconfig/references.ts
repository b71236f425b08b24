// Lists the Secret and the ConfigMap that an MCPOIDCConfig names. If one is missing, resources that use its settings
// cannot check tokens.

import type { Static } from '#std/schema.ts';
import { bundleReferences } from '../auth/ca-bundle.ts';
import type { SharedOIDC } from '../auth/oidc.ts';
import { secretReference } from '../auth/server/references.ts';
import type { Reference } from '../kind.ts';

export function references({ spec }: { readonly spec: Static<typeof SharedOIDC> }): readonly Reference[] {
  return [
    ...secretReference(spec.inline?.clientSecretRef, '/spec/inline/clientSecretRef'),
    ...bundleReferences(spec.inline?.caBundleRef, '/spec/inline/caBundleRef'),
  ];
}
