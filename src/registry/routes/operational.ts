// Health, readiness and version (document 1, Endpoints; registry.md 1.2): never behind a token.

import type { FastifyInstance } from 'fastify';
import type { CatalogueReader } from '../../catalogue/ports.ts';
import { refuse } from '../answer.ts';
import { route } from '../route.ts';

/** Body of GET /version. */
export interface VersionInfo {
  readonly version: string;
  readonly commit: string;
  /** RFC 3339, or `unknown`. */
  readonly build_date: string;
  readonly node_version: string;
  /** As in `linux/amd64`. */
  readonly platform: string;
}

export function addOperationalRoutes(app: FastifyInstance, catalogue: CatalogueReader, version: VersionInfo): void {
  route(app, '/health', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'healthy' }));

  route(app, '/readiness', async (request, reply) => {
    try {
      await catalogue.ping();
    } catch (error) {
      request.log.warn({ err: error, code: 'catalogue-unavailable' }, 'not ready: the database does not answer');
      return refuse(reply, { code: 'catalogue-unavailable', message: 'not ready: the database does not answer' });
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  });

  route(app, '/version', (_request, reply) => reply.header('cache-control', 'no-cache').send(version));
}
