// Serves health, readiness and version without a token.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CatalogueReader } from '../../catalogue/ports.ts';
import { sendRefusal } from '../answer.ts';
import { HEALTH_SCHEMA, READINESS_SCHEMA, VERSION_INFO_SCHEMA } from '../operation-schemas.ts';
import { route } from '../route.ts';

const NOT_READY = 'not ready: the catalogue cannot be read';
const STOPPING = 'not ready: the service is stopping';

/** Body of GET /version. */
export interface VersionInfo {
  readonly version: string;
  readonly commit: string;
  /** RFC 3339, or `unknown`. */
  readonly build_date: string;
  readonly node_version: string;
  /** Operating system and architecture, such as `linux/amd64`. */
  readonly platform: string;
}

interface OperationalOptions {
  readonly catalogue: CatalogueReader;
  readonly version: VersionInfo;
  readonly isStopping: () => boolean;
}

/**
 * Adds /health, /readiness and /version. /readiness responds with 503 while the catalogue is unreadable or the service
 * stops.
 */
export function addOperationalRoutes(
  app: FastifyInstance,
  { catalogue, version, isStopping }: OperationalOptions,
): void {
  route(app, '/health', health, HEALTH_SCHEMA);
  route(app, '/readiness', readiness, READINESS_SCHEMA);
  route(app, '/version', showVersion, VERSION_INFO_SCHEMA);

  function health(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return reply.header('cache-control', 'no-store').send({ status: 'healthy' });
  }

  async function readiness(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (isStopping()) return sendRefusal(reply, { code: 'service-stopping', message: STOPPING });
    try {
      await catalogue.ping();
    } catch (error) {
      request.log.warn(
        { reason: error instanceof Error ? error.message : String(error), code: 'catalogue-unavailable' },
        NOT_READY,
      );
      return sendRefusal(reply, { code: 'catalogue-unavailable', message: NOT_READY });
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  }

  function showVersion(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return reply.header('cache-control', 'no-cache').send(version);
  }
}
