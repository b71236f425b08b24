// Serves the servers that run in the namespace of the registry, as reconcilers have recorded them in the store.

import type { FastifyInstance } from 'fastify';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import { RUNNING_SERVERS_PATH, type RunningServers } from '#contracts/running-servers.ts';
import { isObject, parseJson } from '#std/json.ts';
import type { CatalogueReader, RunningFound } from '../../catalogue/ports.ts';
import { shownServers } from '../../catalogue/running.ts';
import { RUNNING_SCHEMA } from '../operation-schemas.ts';
import { route } from '../route.ts';

export function addRunningRoute(app: FastifyInstance, config: RegistryConfig, catalogue: CatalogueReader): void {
  const own = { namespace: config.namespace, registry: config.registryName };
  let last: { readonly found: RunningFound; readonly answer: RunningServers } | undefined;
  route(
    app,
    RUNNING_SERVERS_PATH,
    async (_request, reply) => {
      const found = await catalogue.running(own);
      if (found !== last?.found) last = { found, answer: answerOf(found) };
      return reply.header('cache-control', 'no-store').send(last.answer);
    },
    RUNNING_SCHEMA,
  );
}

function answerOf({ servers, documents }: RunningFound): RunningServers {
  return { version: 1, servers: shownServers(servers, documents.map(parseJson).filter(isObject)) };
}
