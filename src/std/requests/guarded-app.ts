// Ends a request of a Fastify application if a listener, a timer or a promise that is not awaited throws. Fastify
// itself handles only errors of its handlers.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { runRequest } from './request-context.ts';

/** Must be called before other hooks are added. `answer` logs the exception and sends a response. */
export function guardRequests(
  app: FastifyInstance,
  answer: (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const guarded = { broken: (error: unknown) => endBroken(error, request, reply, answer) };
    runRequest(guarded, [request.raw, reply.raw], done);
  });
}

function endBroken(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Parameters<typeof guardRequests>[1],
): void {
  const { raw } = reply;
  raw.shouldKeepAlive = false;
  if (!reply.sent) {
    answer(error, request, reply);
    return;
  }
  request.log.error({ err: error }, 'a request failed after its response had begun');
  if (!raw.writableFinished) raw.destroy();
}
