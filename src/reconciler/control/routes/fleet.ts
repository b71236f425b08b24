// Serves /fleet (every source and resource with its state and the reason) and, about one resource, /fleet/resource (all
// of it), /fleet/resource/logs and /fleet/resource/readings. All need the token.

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
  addResourceRoute(app, '/fleet/resource', fleet.resource);
  addResourceRoute(app, '/fleet/resource/logs', fleet.logs);
  addResourceRoute(app, '/fleet/resource/readings', fleet.readings);
}

/** Adds a route about the resource that the query names by its id. */
function addResourceRoute(app: FastifyInstance, url: string, read: Fleet['resource']): void {
  addRoute(app, {
    method: 'GET',
    url,
    async handler(request, reply) {
      const { id } = request.query as Readonly<Record<string, unknown>>;
      const text = typeof id === 'string' ? await read(id) : undefined;
      if (text !== undefined) return reply.header('cache-control', 'no-store').type(JSON_TYPE).send(text);
      return sendRefusal(reply, 'control-resource-not-found', 'the last run knew no resource of this id');
    },
  });
}
