// Lists the Secrets that an MCPWebhookConfig names. If one is missing, pods of servers that use the webhooks do not
// start.

import { secretReference } from '../auth/server/references.ts';
import type { Reference } from '../kind.ts';
import { listedWebhooks, type WebhooksSpec } from '../proxy/webhooks.ts';

export function references({ spec }: { readonly spec: WebhooksSpec }): readonly Reference[] {
  return listedWebhooks(spec).flatMap(({ webhook: { hmacSecretRef, tlsConfig }, pointer }) => [
    ...secretReference(hmacSecretRef, `${pointer}/hmacSecretRef`),
    ...secretReference(tlsConfig?.caSecretRef, `${pointer}/tlsConfig/caSecretRef`),
    ...secretReference(tlsConfig?.clientCertSecretRef, `${pointer}/tlsConfig/clientCertSecretRef`),
    ...secretReference(tlsConfig?.clientKeySecretRef, `${pointer}/tlsConfig/clientKeySecretRef`),
  ]);
}
