// One route with all that belongs to it: HEAD where there is GET, and a clear answer to every other method.

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
  /** Present: it needs no token. */
  readonly public?: true;
  /** Bytes; that of the app where it is not given. */
  readonly bodyLimit?: number;
  /** After the token was checked, and before a body is read. */
  readonly onRequest?: onRequestAsyncHookHandler;
  readonly handler: Handler;
}

export function addRoute(app: FastifyInstance, { method, url, handler, ...rest }: Route): void {
  const allowed: readonly string[] = ALLOWED[method];
  const { public: isPublic, ...options } = rest;
  const config: FastifyContextConfig = isPublic === undefined ? {} : { public: isPublic };
  app.route({ method, url, config, handler, ...options });
  // Refused before a token is asked for and a body looked at: which methods there are is no secret.
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
