// Gives each request of a Fastify application its context. Fastify handles errors that a handler throws. This module
// handles errors that a listener, a timer or a promise that is not awaited throws later.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { runRequest } from './request-context.ts';

/** Must be called before every other hook is added. `answer` logs the exception. */
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
