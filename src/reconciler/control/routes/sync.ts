// Serves POST /sync: starts a run now, instead of at the next tick. It needs the token.

import type { FastifyInstance } from 'fastify';
import { answer } from '../answer.ts';
import type { Trigger } from '../ports.ts';
import { addRoute } from '../route.ts';

export function addSyncRoute(app: FastifyInstance, trigger: Trigger): void {
  addRoute(app, {
    method: 'POST',
    url: '/sync',
    handler: (_request, reply) => answer(reply, { status: trigger('request') ? 'queued' : 'already queued' }, 202),
  });
}
