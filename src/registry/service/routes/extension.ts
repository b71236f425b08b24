// Lists registries with the state of their syncs, and requests manual syncs.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SourceState } from '#contracts/catalogue-state.ts';
import type { RegistryConfig, ServedRegistry } from '#contracts/registry/service.ts';
import { formatDuration } from '#std/duration.ts';
import type { CatalogueReader } from '../../catalogue/ports.ts';
import { sendRefusal } from '../answer.ts';
import { registryKey } from '../conditional.ts';
import { REGISTRIES_SCHEMA, REGISTRY_INFO_SCHEMA, SYNC_SCHEMA } from '../operation-schemas.ts';
import { addPostRoute, route } from '../route.ts';

const BASE = '/extension/v0/registries';

export function addExtensionRoutes(app: FastifyInstance, config: RegistryConfig, catalogue: CatalogueReader): void {
  const own = { namespace: config.namespace, registry: config.registryName };
  route(app, BASE, list, REGISTRIES_SCHEMA);
  route(app, `${BASE}/:registry`, show, REGISTRY_INFO_SCHEMA);
  addPostRoute(app, `${BASE}/:registry/sync`, sync, SYNC_SCHEMA);

  async function infos(): Promise<readonly RegistryInfo[]> {
    const states = await catalogue.states(own);
    return config.registries.map((registry) => registryInfo(registry, states[registry.name]));
  }

  async function list(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    return reply.header('cache-control', 'no-store').send({ registries: await infos() });
  }

  async function show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const key = registryKey(config, request);
    if (!key.ok) return sendRefusal(reply, key.refused);
    const info = (await infos()).find(({ name }) => name === key.value.source);
    return reply.header('cache-control', 'no-store').send(info);
  }

  async function sync(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const key = registryKey(config, request);
    if (!key.ok) return sendRefusal(reply, key.refused);
    const info = (await infos()).find(({ name }) => name === key.value.source);
    if (info?.type === 'MANAGED' || info?.type === 'KUBERNETES') {
      return sendRefusal(reply, { code: 'registry-not-synced', message: 'the registry has no source to sync' });
    }
    await catalogue.requestSync(key.value);
    request.log.info({ registry: key.value.source }, 'a sync was requested');
    return reply.code(202).header('cache-control', 'no-store').send(info);
  }
}

/** Public facts about a registry. Internal hosts and paths are left out. */
interface RegistryInfo {
  readonly name: string;
  readonly type: 'REMOTE' | 'FILE' | 'MANAGED' | 'KUBERNETES';
  readonly creationType: 'CONFIG';
  readonly sourceType: 'git' | 'api' | 'file' | 'managed' | 'kubernetes';
  readonly format: ServedRegistry['format'];
  readonly syncSchedule?: string;
  readonly syncStatus?: object;
}

function registryInfo({ name, origin, format, intervalMs }: ServedRegistry, state?: SourceState): RegistryInfo {
  return {
    name,
    ...kindOf(origin.type),
    creationType: 'CONFIG',
    format,
    syncSchedule: intervalMs === undefined ? undefined : formatDuration(intervalMs),
    syncStatus: state && syncStatus(state),
  };
}

function kindOf(type: ServedRegistry['origin']['type']): Pick<RegistryInfo, 'type' | 'sourceType'> {
  switch (type) {
    case 'git':
    case 'api':
      return { type: 'REMOTE', sourceType: type };
    case 'file':
    case 'url':
      return { type: 'FILE', sourceType: 'file' };
    case 'managed':
      return { type: 'MANAGED', sourceType: type };
    case 'kubernetes':
      return { type: 'KUBERNETES', sourceType: type };
  }
}

/**
 * Replaces the reason of a failure, which may contain internal hosts and paths. The log and the status of the
 * MCPRegistry have the reason.
 */
const FAILED = 'the last attempt failed; the entries that were read before are still served';

function syncStatus({ phase, message, attemptCount, serverCount, lastAttempt, lastSyncTime }: SourceState): object {
  return {
    phase: phase.toLowerCase(),
    message: phase === 'Failed' ? FAILED : message,
    attemptCount,
    serverCount,
    lastAttempt,
    lastSyncTime,
  };
}
