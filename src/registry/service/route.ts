// Adds a route with HEAD in addition to GET, and with status 405 for other methods.

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { sendRefusal } from './answer.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route needs no token. */
    readonly public?: true;
    /** True if the route starts work. The route requires the scope for writing, even if scopes are not enforced. */
    readonly changes?: true;
  }
}

/** The CORS plugin handles OPTIONS. */
const ALLOWED = { GET: ['GET', 'HEAD', 'OPTIONS'], POST: ['POST', 'OPTIONS'] } as const;

export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/** Adds a route for GET and HEAD. */
export function route(app: FastifyInstance, url: string, handler: Handler, schema: FastifySchema = {}): void {
  addRoute(app, { method: 'GET', url, handler, schema });
}

/** Adds a route for GET and HEAD that needs no token in any mode. */
export function addPublicRoute(app: FastifyInstance, url: string, handler: Handler): void {
  addRoute(app, { method: 'GET', url, handler, config: { public: true } });
}

/** Adds a route for POST without a body. */
export function addPostRoute(app: FastifyInstance, url: string, handler: Handler, schema: FastifySchema = {}): void {
  addRoute(app, { method: 'POST', url, handler, schema, config: { changes: true } });
}

interface RegistryRoute {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly handler: Handler;
  readonly schema?: FastifySchema;
  readonly config?: FastifyContextConfig;
}

function addRoute(app: FastifyInstance, { method, url, config = {}, ...rest }: RegistryRoute): void {
  const allowed: readonly string[] = ALLOWED[method];
  app.route({ method, url, config, ...rest });
  // Refuses other methods in onRequest, before a body is read. Hooks of the whole application, such as the token check,
  // run earlier.
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
