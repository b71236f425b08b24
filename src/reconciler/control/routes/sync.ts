// Serves POST /sync for machines: starts a run now, instead of at the next tick. It needs a token. People have the action
// of the console, which needs their role.

import type { FastifyInstance } from 'fastify';
import { answer, sendRefusal } from '../answer.ts';
import type { Trigger } from '../ports.ts';
import { addRoute } from '../route.ts';

export function addSyncRoute(app: FastifyInstance, trigger: Trigger): void {
  addRoute(app, {
    method: 'POST',
    url: '/sync',
    handler({ caller }, reply) {
      if (caller?.means !== 'token')
        return sendRefusal(reply, 'control-not-operator', 'this path is for tokens: use /fleet/actions/sync');
      return answer(reply, { status: trigger('request') ? 'queued' : 'already queued' }, 202);
    },
  });
}
