// Serves the authorization server on the HTTP listener of its proxy or virtual server. Converts requests of node:http
// and writes the answers.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthorizationServer } from './issuer.ts';
import { errorAnswer, type IssuerAnswer, type IssuerRequest } from './message.ts';

/** Maximum size of a request body. Registrations are the largest requests. */
const BODY_BYTES_MAX = 64 * 1024;

/** Serves the request. Returns false if the path does not belong to the authorization server. */
export type ServeIssuer = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Returns the function that serves requests. If `trustForwarded` is true, X-Forwarded-For contains the client's
 * address.
 */
export function mountIssuer(server: AuthorizationServer, trustForwarded: boolean): ServeIssuer {
  return function serveIssuer(path, request, response) {
    if (!server.owns(path)) return false;
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES_MAX) chunks.push(chunk);
      else if (!response.headersSent) writeAnswer(request, response, TOO_LARGE);
    });
    request.on('end', () => {
      if (response.headersSent) return;
      const body = Buffer.concat(chunks).toString('utf8');
      void server
        .handle(issuerRequest(path, request, body, callerAddress(request, trustForwarded)))
        .then((answer) => writeAnswer(request, response, answer));
    });
    return true;
  };
}

const TOO_LARGE: IssuerAnswer = (() => {
  const answer = errorAnswer(
    { error: 'invalid_request', description: `the body is larger than ${BODY_BYTES_MAX} bytes` },
    413,
  );
  // The connection must be closed, because the remaining bytes of the request are not read.
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
})();

function issuerRequest(
  path: string,
  { method = 'GET', url = '/', headers }: IncomingMessage,
  body: string,
  address: string,
): IssuerRequest {
  const question = url.indexOf('?');
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]);
  return {
    method,
    path,
    query: new URLSearchParams(question < 0 ? '' : url.slice(question + 1)),
    headers: Object.fromEntries(flat),
    body,
    address,
  };
}

function writeAnswer(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: IssuerAnswer,
): void {
  if (response.destroyed) return;
  const given = Object.entries(headers).filter(([, value]) => value.length > 0);
  for (const [name, value] of given) response.setHeader(name, typeof value === 'string' ? value : [...value]);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status);
  response.end(method === 'HEAD' ? '' : body);
}

/**
 * Returns the client's address. With `trustForwarded`, this is the last address in X-Forwarded-For, which the nearest
 * proxy added.
 */
function callerAddress({ headers, socket }: IncomingMessage, trustForwarded: boolean): string {
  const chain = trustForwarded ? String(headers['x-forwarded-for'] ?? '') : '';
  return chain.split(',').at(-1)?.trim() || (socket.remoteAddress ?? '');
}
