// Sends the responses of the reconciler's own listener: JSON with a version, and one form for all refusals and errors.

import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '#std/json.ts';
import type { ControlCode } from './codes.ts';

/** Codes of responses. The other codes are codes of failures, which a message names. */
export type AnsweredCode = Extract<ControlCode, `control-${string}`>;

const STATUS: Readonly<Record<AnsweredCode, number>> = {
  'control-closed': 403,
  'control-unauthorized': 401,
  'control-token-unreadable': 503,
  'control-hook-closed': 403,
  'control-hook-unsigned': 401,
  'control-hook-forged': 403,
  'control-hook-unreadable': 400,
  'control-hook-rate-limited': 429,
  'control-route-not-found': 404,
  'control-method-not-allowed': 405,
  'control-no-snapshot': 503,
  'control-request-invalid': 400,
  'control-run-not-found': 404,
  'control-resource-not-found': 404,
  'control-streams-exhausted': 503,
  'control-history-unreadable': 503,
  'control-not-operator': 403,
  'control-namespace-forbidden': 403,
  'control-confirmation-missing': 428,
  'control-confirmation-changed': 409,
  'control-action-refused': 409,
  'control-cross-site': 403,
  'control-token-in-url': 400,
  'control-login-rate-limited': 429,
  'control-login-no-role': 403,
  'control-login-failed': 502,
  'control-failed': 500,
};

/** Sends `{"version": 1, ...}` with a header that forbids caching. */
export function answer(reply: FastifyReply, body: JsonObject, status = 200): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .send({ version: 1, ...body });
}

/** `message` is public. `status` is set if it differs from the status of the code. */
export function sendRefusal(
  reply: FastifyReply,
  code: AnsweredCode,
  message: string,
  status: number = STATUS[code],
): FastifyReply {
  reply.request.log.debug({ code }, message);
  return answer(reply, { code, error: message }, status);
}

/**
 * Handles all errors of routes and of the framework. An error with a 4xx status is sent with that status, every other
 * error as 500. The cause is only logged.
 */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode >= 400 && statusCode < 500) {
    const message = (STATUS_CODES[statusCode] ?? 'bad request').toLowerCase();
    return sendRefusal(reply, 'control-request-invalid', message, statusCode);
  }
  request.log.error({ err: error, code: 'control-failed' }, 'the request failed');
  return sendRefusal(reply, 'control-failed', 'internal error');
}

export function handleNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendRefusal(reply, 'control-route-not-found', 'not found');
}
