// Serves /runs: the last runs as JSON, with the token. A browser gets the console.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '#std/failure.ts';
import type { AccessCheck } from '../access.ts';
import { sendRefusal } from '../answer.ts';
import type { Runs } from '../ports.ts';
import { addRoute } from '../route.ts';
import { isOfBrowser, type SendConsole } from './console.ts';

export function addRunsRoutes(app: FastifyInstance, runs: Runs, check: AccessCheck, sendConsole: SendConsole): void {
  addRoute(app, {
    method: 'GET',
    url: '/runs',
    public: true,
    async handler(request, reply) {
      reply.header('vary', 'accept');
      if (isOfBrowser(request)) return sendConsole(reply);
      await check(request, reply);
      return reply.sent ? reply : sendText(reply, () => runs.list());
    },
  });
  addRoute(app, {
    method: 'GET',
    url: '/runs/:id',
    handler: (request, reply) => sendText(reply, () => runs.find(paramOf(request, 'id'))),
  });
}

function paramOf({ params }: FastifyRequest, name: string): string {
  return (params as Readonly<Record<string, string>>)[name] ?? '';
}

async function sendText(reply: FastifyReply, json: () => Promise<string>): Promise<FastifyReply> {
  try {
    const text = await json();
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'run-not-found') return sendRefusal(reply, 'control-run-not-found', 'there is no such run');
    reply.request.log.error({ code: 'control-history-unreadable', reason: error.message }, 'no run can be shown');
    return sendRefusal(reply, 'control-history-unreadable', 'the history cannot be read');
  }
}
