// Defines the OpenAPI schemas of the official API's routes and of facets. The routes check their input themselves, to
// send one sentence per mistake.

import { LISTED_CLIENTS } from '#contracts/registry/listed-clients.ts';
import { Type } from '#std/json-schema.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, SORTS, TEXT_LENGTH_MAX, VALUES_MAX } from './query.ts';
import { describeErrors, REGISTRY, Time } from './schema-parts.ts';
import { OFFICIAL_META } from './wire.ts';

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
  Type.Boolean({ default: false, description: 'Also list deleted servers. Implied by updated_since.' }),
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
          statusMessage: Type.Optional(
            Type.String({ maxLength: 500, description: 'Reason of the status, if the source has one.' }),
          ),
          statusChangedAt: Time('Time of the last change of the status.'),
          publishedAt: Time('When the registry first had this version.'),
          updatedAt: Time('When the served data of this version last changed.'),
          isLatest: Type.Boolean({ description: 'Whether this is the latest version of the server.' }),
        }),
      },
      { description: 'Metadata of the registry about the server.' },
    ),
  },
  { title: 'ServerResponse' },
);

const SERVER_LIST = Type.Object(
  {
    servers: Type.Array(SERVER_RESPONSE),
    metadata: Type.Object({
      count: Type.Integer({ description: 'Number of servers in this response.' }),
      nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last one.' })),
    }),
  },
  { title: 'ServerList' },
);

const UNCHANGED = { type: 'null', description: 'The content is still the one that If-None-Match names.' };

const DATA_ERRORS = describeErrors(400, 401, 403, 404, 429, 503);

const DATA_TAG = 'registry';

/** Parameters that decide which servers a list has. */
const FILTERS = {
  search: Type.Optional(
    Type.String({
      maxLength: TEXT_LENGTH_MAX,
      description: 'Words, in any case: each is part of the name, title, description, a tag or the name of a tool.',
    }),
  ),
  updated_since: Type.Optional(Time('Only servers that changed later than this.')),
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
        description: 'Order: by name, or by a number with the highest first. An extension of the official API.',
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

export const CLIENTS_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'List of the servers for administrators of one MCP client, in the format of that client',
  params: Type.Object({
    registry: REGISTRY,
    list: Type.String({ description: `Name of a list: ${LISTED_CLIENTS.map((name) => `${name}.json`).join(', ')}.` }),
  }),
  response: {
    200: {
      description:
        'Addresses, and commands that are the same for every user, of the latest versions. An extension of the official API.',
      type: 'object',
      additionalProperties: true,
    },
    304: UNCHANGED,
    ...describeErrors(401, 403, 404, 429, 503),
  },
};

export const FACETS_SCHEMA = {
  tags: [DATA_TAG],
  summary: 'Values for filters of a list, with their numbers of servers, most frequent first',
  params: Type.Object({ registry: REGISTRY }),
  querystring: Type.Object(FILTERS),
  response: {
    200: {
      description:
        'Counts the latest versions, without `version`. Tiers, statuses and transports are counted without their own filter. An extension of the official API.',
      ...Type.Object({
        total: Type.Integer({ description: 'Number of matching servers.' }),
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
