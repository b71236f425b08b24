// Adds one route with everything that belongs to it: HEAD in addition to GET, and a clear response to every other
// method.

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { sendRefusal } from './answer.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no token. */
    readonly public?: true;
    /** The route starts work: it requires the scope to write, even if scopes are not enforced for other routes. */
    readonly changes?: true;
  }
}

/** OPTIONS belongs to CORS. */
const ALLOWED = { GET: ['GET', 'HEAD', 'OPTIONS'], POST: ['POST', 'OPTIONS'] } as const;

export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** Adds a route whose handler serves GET and HEAD; other methods get 405 with Allow. */
export function route(app: FastifyInstance, url: string, handler: Handler, schema: FastifySchema = {}): void {
  addRoute(app, { method: 'GET', url, handler, schema });
}

/** Adds a route whose handler serves GET and HEAD without a token, in any mode. */
export function addPublicRoute(app: FastifyInstance, url: string, handler: Handler): void {
  addRoute(app, { method: 'GET', url, handler, config: { public: true } });
}

/** Adds a route whose handler serves POST without a body; other methods get 405. */
export function addPostRoute(app: FastifyInstance, url: string, handler: Handler, schema: FastifySchema = {}): void {
  addRoute(app, { method: 'POST', url, handler, schema, config: { changes: true } });
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly handler: Handler;
  readonly schema?: FastifySchema;
  readonly config?: FastifyContextConfig;
}

function addRoute(app: FastifyInstance, { method, url, config = {}, ...rest }: Route): void {
  const allowed: readonly string[] = ALLOWED[method];
  app.route({ method, url, config, ...rest });
  // Other methods are refused in onRequest, before a body is read; hooks of the whole app (token check) come first.
  app.route({
    method: app.supportedMethods.filter((each) => !allowed.includes(each)),
    url,
    config: { public: config.public },
    onRequest: async (_request, reply) => methodNotAllowed(reply, allowed),
    handler: async (_request, reply) => methodNotAllowed(reply, allowed),
  });
}

function methodNotAllowed(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  return sendRefusal(reply.header('allow', allowed.join(', ')), {
    code: 'method-not-allowed',
    message: 'method not allowed',
  });
}
