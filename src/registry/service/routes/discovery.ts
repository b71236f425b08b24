// Serves the protected-resource metadata (RFC 9728 section 3), which names the issuers of tokens.

import type { FastifyInstance, FastifyReply } from 'fastify';
import { resourceMetadata, resourceSuffix, WELL_KNOWN_PATH } from '#auth/metadata.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import { handleNotFound } from '../errors.ts';
import { DISCOVERY_SCHEMA } from '../operation-schemas.ts';
import { route } from '../route.ts';

const MAX_AGE_SECONDS = 300;

/** Adds the routes. Called only in mode oauth: mode anonymous has no issuers. */
export function addDiscoveryRoutes(app: FastifyInstance, settings: ResourceSettings): void {
  const document = resourceMetadata(settings);
  function send(reply: FastifyReply): FastifyReply {
    return reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).send(document);
  }

  route(app, WELL_KNOWN_PATH, (_request, reply) => send(reply), DISCOVERY_SCHEMA);
  // If the resource has a path, RFC 9728 section 3.1 appends it to WELL_KNOWN_PATH. Clients of ToolHive's server
  // request WELL_KNOWN_PATH itself.
  const suffix = resourceSuffix(settings.resourceUrl);
  if (suffix === '') return;
  route(app, `${WELL_KNOWN_PATH}/*`, (request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const asked = path.slice(WELL_KNOWN_PATH.length);
    if (withoutSlash(asked) === withoutSlash(suffix)) return send(reply);
    return handleNotFound(request, reply);
  });
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
