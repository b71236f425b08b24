// Serves /snapshot: the state of the instance as its last run observed it, for plans of people who may not read the
// cluster. It needs the token, because the state contains the names of existing objects.

import type { FastifyInstance } from 'fastify';
import { sendRefusal } from '../answer.ts';
import { addRoute } from '../route.ts';

/** `snapshot` returns the text of the last snapshot; undefined before the first. */
export function addSnapshotRoute(app: FastifyInstance, snapshot: () => string | undefined): void {
  addRoute(app, {
    method: 'GET',
    url: '/snapshot',
    handler(_request, reply) {
      const text = snapshot();
      if (text === undefined)
        return sendRefusal(reply, 'control-no-snapshot', 'no snapshot exists yet: wait for the first run');
      return reply.header('cache-control', 'no-store').type('application/json').send(text);
    },
  });
}
