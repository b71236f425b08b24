// Defines how the reconciler reads documents of a virtual server that no client may read: paths on the port of clients,
// and a token that both derive from the generated Secret of the server.

import { hmacSha256 } from '#std/hash.ts';

/** Paths of the documents. Without the token they do not exist. */
export const OPERATOR_PATHS = {
  /** Backends, offers, conflicts, workflows and their last runs, with names. */
  status: '/operators/status',
  /** Metrics for Prometheus. */
  metrics: '/operators/metrics',
} as const;

/** Header with the token. The API server removes `Authorization` from requests that it passes on to a pod. */
export const OPERATOR_HEADER = 'x-skep-operator';

/** `secret` is the value of `VMCP_SESSION_HMAC_SECRET`. The key cannot be derived from the token. */
export function operatorToken(secret: string): string {
  return hmacSha256(Buffer.from(secret.trim()), 'skep operator documents, version 1');
}
