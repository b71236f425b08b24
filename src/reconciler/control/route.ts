// Adds a route with HEAD in addition to GET, and refuses every other method with a clear message.

import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify';
import { sendRefusal } from './answer.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

const ALLOWED = { GET: ['GET', 'HEAD'], POST: ['POST'] } as const;

export interface Route {
  readonly method: keyof typeof ALLOWED;
  readonly url: string;
  /** Set if the route needs no token. */
  readonly public?: true;
  /** Maximum bytes; by default the limit of the app. */
  readonly bodyLimit?: number;
  /** Maximum milliseconds until the response; by default the limit of the app. */
  readonly timeoutMs?: number;
  /** Called after the token was checked, and before a body is read. */
  readonly onRequest?: onRequestAsyncHookHandler;
  readonly handler: Handler;
}

export function addRoute(app: FastifyInstance, { method, url, handler, ...rest }: Route): void {
  const allowed: readonly string[] = ALLOWED[method];
  const { public: isPublic, timeoutMs, ...others } = rest;
  const options = timeoutMs === undefined ? others : { ...others, handlerTimeout: timeoutMs };
  const config: FastifyContextConfig = isPublic === undefined ? {} : { public: isPublic };
  app.route({ method, url, config, handler, ...options });
  // This route refuses other methods before a token is checked and a body is read: the allowed methods are not secret.
  app.route({
    method: app.supportedMethods.filter((each) => !allowed.includes(each)),
    url,
    config: { public: true },
    onRequest: async (_request, reply) => methodNotAllowed(reply, allowed),
    handler: async (_request, reply) => methodNotAllowed(reply, allowed),
  });
}

function methodNotAllowed(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  return sendRefusal(reply.header('allow', allowed.join(', ')), 'control-method-not-allowed', 'method not allowed');
}
