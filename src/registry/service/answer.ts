// Sends error responses: their status and the body `{"error": text}`.

import type { FastifyReply } from 'fastify';
import type { RegistryCode } from './codes.ts';

const STATUS: Readonly<Record<RegistryCode, number>> = {
  'query-invalid': 400,
  'cursor-invalid': 400,
  'server-name-invalid': 400,
  'version-invalid': 400,
  'registry-not-found': 404,
  'server-not-found': 404,
  'version-not-found': 404,
  'client-unknown': 404,
  'client-list-too-long': 404,
  'route-not-found': 404,
  'method-not-allowed': 405,
  'registry-not-synced': 409,
  'sync-refused': 403,
  'rate-limited': 429,
  'request-invalid': 400,
  'request-timeout': 503,
  'catalogue-unavailable': 503,
  'service-stopping': 503,
  'tokens-unavailable': 503,
  'internal-error': 500,
};

/** Why a request gets no data. `message` is public. */
export interface ErrorResponse {
  readonly code: RegistryCode;
  readonly message: string;
}

export type ValueOrError<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refused: ErrorResponse };

export function found<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

const RETRY_AFTER_SECONDS = 5;

/** `status` replaces the status of the code. */
export function sendRefusal(
  reply: FastifyReply,
  { code, message }: ErrorResponse,
  status = STATUS[code],
): FastifyReply {
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  reply.request.log.debug({ code }, message);
  return reply.code(status).header('cache-control', 'no-store').send({ error: message });
}
