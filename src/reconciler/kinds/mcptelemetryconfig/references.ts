// Lists the Secrets and the ConfigMap that an MCPTelemetryConfig names. If one is missing, pods that use the settings
// do not start.

import type { Static } from '#std/schema.ts';
import { bundleReferences } from '../auth/ca-bundle.ts';
import { secretReference } from '../auth/server/references.ts';
import type { Reference } from '../kind.ts';
import type { SharedTelemetry } from '../proxy/shared-telemetry.ts';

export function references({ spec }: { readonly spec: Static<typeof SharedTelemetry> }): readonly Reference[] {
  const { sensitiveHeaders = [], caBundleRef } = spec.openTelemetry ?? {};
  const pointer = '/spec/openTelemetry';
  return [
    ...sensitiveHeaders.flatMap(({ secretKeyRef }, index) => {
      return secretReference(secretKeyRef, `${pointer}/sensitiveHeaders/${index}/secretKeyRef`);
    }),
    ...bundleReferences(caBundleRef, `${pointer}/caBundleRef`),
  ];
}
