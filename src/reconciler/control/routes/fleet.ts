// Serves /fleet (every source and resource with its state and the reason) and /fleet/resource (one resource in full).
// Both need the token.

import type { FastifyInstance } from 'fastify';
import { sendRefusal } from '../answer.ts';
import type { Fleet } from '../ports.ts';
import { addRoute } from '../route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

export function addFleetRoutes(app: FastifyInstance, fleet: Fleet): void {
  addRoute(app, {
    method: 'GET',
    url: '/fleet',
    handler(request, reply) {
      const { text, tag } = fleet.state();
      reply.headers({ 'cache-control': 'no-cache', etag: `"${tag}"` });
      if (request.headers['if-none-match'] === `"${tag}"`) return reply.code(304).send();
      return reply.type(JSON_TYPE).send(text);
    },
  });
  addRoute(app, {
    method: 'GET',
    url: '/fleet/resource',
    async handler(request, reply) {
      const { id } = request.query as Readonly<Record<string, unknown>>;
      const text = typeof id === 'string' ? await fleet.resource(id) : undefined;
      if (text !== undefined) return reply.header('cache-control', 'no-store').type(JSON_TYPE).send(text);
      return sendRefusal(reply, 'control-resource-not-found', 'the last run knew no resource of this id');
    },
  });
}
