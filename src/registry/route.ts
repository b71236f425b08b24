// One GET route with all that belongs to it: HEAD, and a clear answer to every other method.

import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { refuse } from './answer.ts';

const ALLOWED = ['GET', 'HEAD', 'OPTIONS'];

export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** GET and HEAD by the handler; 405 with Allow for the other methods. OPTIONS belongs to CORS. */
export function route(app: FastifyInstance, url: string, handler: Handler, schema: FastifySchema = {}): void {
  app.get(url, { schema }, handler);
  // Refused in onRequest, before a body is looked at; the hooks of the whole app, the token among them, come first.
  app.route({
    method: app.supportedMethods.filter((method) => !ALLOWED.includes(method)),
    url,
    onRequest: async (_request, reply) => methodNotAllowed(reply),
    handler: async (_request, reply) => methodNotAllowed(reply),
  });
}

function methodNotAllowed(reply: FastifyReply): FastifyReply {
  return refuse(reply.header('allow', ALLOWED.join(', ')), {
    code: 'method-not-allowed',
    message: 'method not allowed',
  });
}
