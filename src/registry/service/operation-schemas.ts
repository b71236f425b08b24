// Defines the OpenAPI schemas of the routes for health, registries, running servers and metadata.

import { SOURCE_FORMATS } from '#contracts/registry/source.ts';
import { Type } from '#std/json-schema.ts';
import { describeErrors, REGISTRY, Time } from './schema-parts.ts';

/** Marks a route that needs no token. */
const PUBLIC: Record<string, string[]>[] = [];

const OPERATIONAL_TAG = 'operation';

const REGISTRY_INFO = Type.Object(
  {
    name: Type.String({ description: 'The {registry} of its paths.' }),
    type: Type.Enum(['REMOTE', 'FILE', 'MANAGED', 'KUBERNETES']),
    creationType: Type.Enum(['CONFIG']),
    sourceType: Type.Enum(['git', 'api', 'file', 'managed', 'kubernetes']),
    format: Type.Enum([...SOURCE_FORMATS]),
    syncSchedule: Type.Optional(Type.String({ description: 'Time between two syncs, as a duration such as 1h30m.' })),
    syncStatus: Type.Optional(
      Type.Object(
        {
          phase: Type.Enum(['complete', 'syncing', 'failed']),
          message: Type.String(),
          attemptCount: Type.Integer({ description: 'Attempts since the last success.' }),
          serverCount: Type.Integer({ description: 'Entries that the last sync stored.' }),
          lastAttempt: Type.Optional(Time('Time of the last attempt to read the source.')),
          lastSyncTime: Type.Optional(Time('When its content was last stored.')),
        },
        { description: 'Absent until the first sync.' },
      ),
    ),
  },
  { title: 'RegistryInfo' },
);

export const REGISTRIES_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'List the registries of this service',
  response: {
    200: { description: 'All of them.', ...Type.Object({ registries: Type.Array(REGISTRY_INFO) }) },
    ...describeErrors(401, 403, 429, 503),
  },
};

const RUNNING_SERVER = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  url: Type.String({ description: 'URL for clients inside the cluster.' }),
  transport: Type.Enum(['streamable-http', 'sse']),
  ready: Type.Boolean(),
  drift: Type.Optional(Type.String({ description: 'Definitions that differ from its ToolLock; absent if none does.' })),
  auth: Type.Enum(['none', 'oidc'], { description: 'oidc: it requires a token of its own issuer.' }),
  image: Type.Optional(
    Type.String({ description: 'Only if an entry of the registry names it; the same is true of the next two fields.' }),
  ),
  args: Type.Optional(Type.Array(Type.String())),
  provenance: Type.Optional(
    Type.Array(
      Type.Object({
        predicateType: Type.String(),
        repository: Type.Optional(Type.String()),
        identity: Type.Optional(Type.String()),
      }),
      { description: 'Verified attestations of the image, if an entry of the registry names it.' },
    ),
  ),
  remoteUrl: Type.Optional(Type.String()),
});

export const RUNNING_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'List the servers that run in the namespace of the registry',
  response: {
    200: {
      description: 'By name.',
      ...Type.Object({ version: Type.Integer(), servers: Type.Array(RUNNING_SERVER) }, { title: 'RunningServers' }),
    },
    ...describeErrors(401, 403, 429, 503),
  },
};

export const REGISTRY_INFO_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Get one registry',
  params: Type.Object({ registry: REGISTRY }),
  response: { 200: { description: 'The registry.', ...REGISTRY_INFO }, ...describeErrors(401, 403, 404, 429, 503) },
};

export const SYNC_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Request a sync of a registry, even if it is not due',
  params: Type.Object({ registry: REGISTRY }),
  response: {
    202: { description: 'The registry is synced as soon as a replica has time for the sync.', ...REGISTRY_INFO },
    ...describeErrors(401, 403, 404, 409, 429, 503),
  },
};

export const HEALTH_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Whether the process responds',
  security: PUBLIC,
  response: {
    200: { description: 'The service responds.', ...Type.Object({ status: Type.Enum(['healthy']) }) },
    ...describeErrors(),
  },
};

export const READINESS_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Whether the database responds',
  security: PUBLIC,
  response: {
    200: { description: 'The service can read its catalogue.', ...Type.Object({ status: Type.Enum(['ready']) }) },
    ...describeErrors(503),
  },
};

export const VERSION_INFO_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Version of the service',
  security: PUBLIC,
  response: {
    200: {
      description: 'The build.',
      ...Type.Object({
        version: Type.String(),
        commit: Type.String(),
        build_date: Type.String(),
        node_version: Type.String(),
        platform: Type.String({ examples: ['linux/amd64'] }),
      }),
    },
  },
};

export const DISCOVERY_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Issuers of tokens (RFC 9728)',
  security: PUBLIC,
  response: {
    200: {
      description: 'Protected-resource metadata.',
      ...Type.Object({
        resource: Type.String({ format: 'uri' }),
        authorization_servers: Type.Array(Type.String({ format: 'uri' })),
        scopes_supported: Type.Array(Type.String()),
        bearer_methods_supported: Type.Array(Type.String()),
        resource_documentation: Type.Optional(Type.String({ format: 'uri' })),
      }),
    },
  },
};

const REGISTRY_PARAMS = { params: Type.Object({ registry: REGISTRY }) };

/** `at` says whether the document is at the top level or below a registry. */
export function openApiSchema(format: 'json' | 'yaml', at: 'service' | 'registry'): object {
  const schema = format === 'json' ? Type.Object({}, { additionalProperties: true }) : Type.String();
  return {
    tags: [OPERATIONAL_TAG],
    summary: 'This document',
    ...(at === 'registry' ? REGISTRY_PARAMS : {}),
    response: {
      200: { description: 'OpenAPI 3.1.', content: { [`application/${format}`]: { schema } } },
      ...(at === 'registry' ? describeErrors(401, 403, 404, 429) : describeErrors(401, 403, 429)),
    },
  };
}
