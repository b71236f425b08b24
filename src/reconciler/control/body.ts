// Reads bodies of requests: all as bytes, and the bodies of actions as a JSON object.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isObject, type JsonObject, parseJson } from '#std/json.ts';

/** Makes the application pass the bytes of each body to its route. */
export function acceptBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
}

/**
 * Returns undefined if the body is not a JSON object, or has another type: forms of other sites can only send types that
 * need no permission (Fetch Standard, CORS-safelisted request-header).
 */
export function jsonBody({ headers, body }: FastifyRequest): JsonObject | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json' || !Buffer.isBuffer(body)) return undefined;
  const value = parseJson(body.toString('utf8'));
  return isObject(value) ? value : undefined;
}
