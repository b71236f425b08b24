// The parameters and bodies of the routes as JSON Schemas: what the OpenAPI document is made of. The routes themselves
// check what they are sent, with one sentence per mistake.

import { SOURCE_FORMATS } from '../contracts/registry/source.ts';
import { Type } from '../std/json-schema.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, SORTS, TEXT_LENGTH_MAX, VALUES_MAX } from './query.ts';
import { OFFICIAL_META } from './wire.ts';

const Time = (description: string) => Type.String({ format: 'date-time', description });

const REGISTRY = Type.String({ description: 'Name of the registry.' });
const SERVER = Type.String({
  description: 'Name of the server, `namespace/name`; in the path its slash is percent-encoded as %2F.',
  examples: ['io.github.acme/clock'],
});

const Facet = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: TEXT_LENGTH_MAX }), {
      maxItems: VALUES_MAX,
      description: `${description} An extension of the official API.`,
    }),
  );

const INCLUDE_DELETED = Type.Optional(
  Type.Boolean({ default: false, description: 'Also list servers that are gone. Implied by updated_since.' }),
);

const SERVER_RESPONSE = Type.Object(
  {
    server: Type.Object(
      { name: Type.String(), description: Type.String(), version: Type.String() },
      { additionalProperties: true, description: 'The server.json, as its source has it.' },
    ),
    _meta: Type.Object(
      {
        [OFFICIAL_META]: Type.Object({
          status: Type.Enum(['active', 'deprecated', 'deleted']),
          statusMessage: Type.Optional(Type.String({ maxLength: 500, description: 'Why, where the source says so.' })),
          statusChangedAt: Time('Since when the status is this one.'),
          publishedAt: Time('When the registry first had this version.'),
          updatedAt: Time('When what is served of this version last changed.'),
          isLatest: Type.Boolean({ description: 'Whether this is the latest version of the server.' }),
        }),
      },
      { description: 'What the registry knows of the server.' },
    ),
  },
  { title: 'ServerResponse' },
);

const SERVER_LIST = Type.Object(
  {
    servers: Type.Array(SERVER_RESPONSE),
    metadata: Type.Object({
      count: Type.Integer({ description: 'Number of servers in this answer.' }),
      nextCursor: Type.Optional(Type.String({ description: 'Gives the next page; absent on the last one.' })),
    }),
  },
  { title: 'ServerList' },
);

const ERROR = Type.Object({ error: Type.String({ description: 'What went wrong, for people.' }) }, { title: 'Error' });

function errors(...statuses: readonly number[]): Record<string, object> {
  const known = statuses.map((status) => [status, { description: MEANING[status], ...ERROR }]);
  return { ...Object.fromEntries(known), default: { description: 'Any other failure.', ...ERROR } };
}

const MEANING: Readonly<Record<number, string>> = {
  400: 'A parameter is not valid.',
  401: 'The token is missing or not valid; WWW-Authenticate says where to get one.',
  403: 'The token lacks the scope that WWW-Authenticate names.',
  404: 'There is no such registry, server or version.',
  409: 'The registry has no source to sync.',
  429: 'Too many requests; Retry-After says when to try again.',
  503: 'The database or the identity provider cannot be reached; Retry-After says when to try again.',
};

const UNCHANGED = { type: 'null', description: 'The answer is still what If-None-Match names.' };

const DATA_ERRORS = errors(400, 401, 403, 404, 429, 503);

/** No token needed, whatever the document says of the others. */
const PUBLIC: Record<string, string[]>[] = [];

const DATA_TAG = 'registry';
const OPERATIONAL_TAG = 'operation';

/** What decides which servers a list has. */
const FILTERS = {
  search: Type.Optional(
    Type.String({
      maxLength: TEXT_LENGTH_MAX,
      description: 'Words, in any case: each is part of the name, title, description, a tag or the name of a tool.',
    }),
  ),
  updated_since: Type.Optional(Time('Only what changed later than this.')),
  version: Type.Optional(
    Type.String({ maxLength: TEXT_LENGTH_MAX, description: '`latest`, or an exact version. Without it: all.' }),
  ),
  include_deleted: INCLUDE_DELETED,
  'x-tag': Facet('Only servers with this tag; repeated: with all of them.'),
  'x-tier': Facet('Only servers of this tier, in any case; repeated: of one of them.'),
  'x-status': Facet('Only servers of this status: active, deprecated or deleted; repeated: of one of them.'),
  'x-transport': Facet('Only servers with this transport; repeated: with one of them.'),
};

export const LIST_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'List servers, one entry per version, by name and version',
  params: Type.Object({ registry: REGISTRY }),
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: LIMIT_DEFAULT,
        description: `Servers in one page; of more than ${LIMIT_MAX}, ${LIMIT_MAX} come.`,
      }),
    ),
    cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before, with the same filters.' })),
    ...FILTERS,
    'x-sort': Type.Optional(
      Type.Enum([...SORTS], {
        default: 'name',
        description: 'Order: by name, else the highest first. An extension of the official API.',
      }),
    ),
  }),
  response: { 200: { description: 'A page of the catalogue.', ...SERVER_LIST }, 304: UNCHANGED, ...DATA_ERRORS },
};

export const VERSIONS_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'List the versions of a server, newest publication first',
  params: Type.Object({ registry: REGISTRY, server: SERVER }),
  querystring: Type.Object({ include_deleted: INCLUDE_DELETED }),
  response: { 200: { description: 'All versions.', ...SERVER_LIST }, 304: UNCHANGED, ...DATA_ERRORS },
};

export const VERSION_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'Get one version of a server',
  params: Type.Object({
    registry: REGISTRY,
    server: SERVER,
    version: Type.String({ description: 'An exact version, or `latest`.' }),
  }),
  querystring: Type.Object({ include_deleted: INCLUDE_DELETED }),
  response: { 200: { description: 'The version.', ...SERVER_RESPONSE }, 304: UNCHANGED, ...DATA_ERRORS },
};

const FACET_COUNTS = Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() }));

export const FACETS_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'What a list can be narrowed by, with the number of servers, most frequent first',
  params: Type.Object({ registry: REGISTRY }),
  querystring: Type.Object(FILTERS),
  response: {
    200: {
      description:
        'Of the latest versions, without `version`. Tiers, statuses and transports are counted without their own filter. An extension of the official API.',
      ...Type.Object({
        total: Type.Integer({ description: 'Servers that fit.' }),
        tags: FACET_COUNTS,
        tiers: FACET_COUNTS,
        statuses: FACET_COUNTS,
        transports: FACET_COUNTS,
      }),
    },
    304: UNCHANGED,
    ...DATA_ERRORS,
  },
};

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
          lastAttempt: Type.Optional(Time('When the source was last read, or last could not be.')),
          lastSyncTime: Type.Optional(Time('When its content was last taken over.')),
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
    ...errors(401, 403, 429, 503),
  },
};

const RUNNING_SERVER = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  url: Type.String({ description: 'Where clients inside the cluster reach it.' }),
  transport: Type.Enum(['streamable-http', 'sse']),
  ready: Type.Boolean(),
  auth: Type.Enum(['none', 'oidc'], { description: 'oidc: it asks for a token of its own issuer.' }),
  image: Type.Optional(Type.String({ description: 'Where an entry of the registry names it; so are the next two.' })),
  args: Type.Optional(Type.Array(Type.String())),
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
    ...errors(401, 403, 429, 503),
  },
};

export const REGISTRY_INFO_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Get one registry',
  params: Type.Object({ registry: REGISTRY }),
  response: { 200: { description: 'The registry.', ...REGISTRY_INFO }, ...errors(401, 403, 404, 429, 503) },
};

export const SYNC_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Ask for a sync of a registry, whether or not it is due',
  params: Type.Object({ registry: REGISTRY }),
  response: {
    202: { description: 'It is synced as soon as a replica has time for it.', ...REGISTRY_INFO },
    ...errors(401, 403, 404, 409, 429, 503),
  },
};

export const HEALTH_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Whether the process answers',
  security: PUBLIC,
  response: { 200: { description: 'It does.', ...Type.Object({ status: Type.Enum(['healthy']) }) }, ...errors() },
};

export const READINESS_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'Whether the database answers',
  security: PUBLIC,
  response: { 200: { description: 'It does.', ...Type.Object({ status: Type.Enum(['ready']) }) }, ...errors(503) },
};

export const VERSION_INFO_SCHEMA = {
  tags: [OPERATIONAL_TAG],
  summary: 'What is running',
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
  summary: 'Where tokens come from (RFC 9728)',
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

/** `at`: for the whole service, or again below a registry. */
export function openApiSchema(format: 'json' | 'yaml', at: 'service' | 'registry'): object {
  const schema = format === 'json' ? Type.Object({}, { additionalProperties: true }) : Type.String();
  return {
    tags: [OPERATIONAL_TAG],
    summary: 'This document',
    ...(at === 'registry' ? REGISTRY_PARAMS : {}),
    response: {
      200: { description: 'OpenAPI 3.1.', content: { [`application/${format}`]: { schema } } },
      ...(at === 'registry' ? errors(401, 403, 404, 429) : errors(401, 403, 429)),
    },
  };
}
