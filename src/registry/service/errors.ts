// Sends responses about errors. The responses never contain the cause, which the log has under the request id.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import { type ErrorResponse, sendRefusal } from './answer.ts';

/** Handles errors of routes and of the framework. Sends the error's own 4xx status, 503 if a retry may help, or 500. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Other Failures are faults of the service or its installation, which a retry does not fix.
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

export function handleNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendRefusal(reply, { code: 'route-not-found', message: 'not found' });
}

/** Milliseconds in which the client can read the reason and close the connection. */
const FAREWELL_MS = 1_000;

/** Responds to bytes that are not HTTP, are too large, or arrived too slowly. No request exists for them. */
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
  // Otherwise a client that continues to send would occupy a connection forever.
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(timer));
}

function clientErrorStatus(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

function requestInvalid(status: number): ErrorResponse {
  return { code: 'request-invalid', message: (STATUS_CODES[status] ?? 'bad request').toLowerCase() };
}
