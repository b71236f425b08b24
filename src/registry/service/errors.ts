// Writes the responses about failures. They never contain the cause, which is logged with the request id.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { type Refused, sendRefusal } from './answer.ts';

/**
 * Handles errors of routes and of the framework: 4xx by the status of the error, 503 if trying again may help, 500
 * otherwise.
 */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Only retryable failures may succeed later: other failures are faults of the service or of the installation.
  if (error instanceof Failure && error.retryable) {
    request.log.error(
      { code: 'catalogue-unavailable', failure: error.code, reason: error.message },
      'the catalogue cannot be read',
    );
    return sendRefusal(reply, { code: 'catalogue-unavailable', message: 'the catalogue is temporarily unavailable' });
  }
  const { statusCode = 500, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_HANDLER_TIMEOUT') {
    request.log.error({ err: error, code: 'request-timeout' }, 'the request was not answered in time');
    return sendRefusal(reply, { code: 'request-timeout', message: 'the request was not answered in time' });
  }
  if (statusCode >= 400 && statusCode < 500) return sendRefusal(reply, requestInvalid(statusCode), statusCode);
  request.log.error({ err: error, code: 'internal-error' }, 'the request failed');
  return sendRefusal(reply, { code: 'internal-error', message: 'internal server error' });
}

/** Responds 404 for unknown paths. */
export function handleNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendRefusal(reply, { code: 'route-not-found', message: 'not found' });
}

/** Time for the peer to read the reason and to end its side. */
const FAREWELL_MS = 1_000;

/** Handles bytes that are not HTTP, too large or too slow: there is no request to respond to. */
export function handleClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = clientErrorStatus(error.code);
  const body = JSON.stringify({ error: requestInvalid(status).message });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // A peer that goes on sending would keep the socket half-open, and occupy a connection for ever.
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(timer));
}

function clientErrorStatus(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

function requestInvalid(status: number): Refused {
  return { code: 'request-invalid', message: (STATUS_CODES[status] ?? 'bad request').toLowerCase() };
}
