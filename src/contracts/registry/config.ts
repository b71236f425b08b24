// Defines the registry service's configuration file, which MCPRegistry renders and `skep serve` reads.

import { type Static, Type } from '#std/json-schema.ts';
import { schemaCheck } from '../schema-check.ts';
import { Auth } from './config-auth.ts';
import { Registry } from './config-source.ts';
import { CLOSED, Duration, Text } from './config-words.ts';
import { DATABASE_LOGIN, DATABASE_POOL } from './file-fields.ts';

const Database = Type.Object(
  {
    ...DATABASE_LOGIN,
    caFile: Type.Optional(Text('PEM file of the certificate authority, for verify-ca and verify-full.')),
    passFile: Type.Optional(Text("Password file in PostgreSQL's own format; default: the file that PGPASSFILE names.")),
    ...DATABASE_POOL,
    maxMetaSize: Type.Optional(Type.Integer({ minimum: 1, description: 'Accepted; has no effect.' })),
  },
  {
    ...CLOSED,
    description: 'PostgreSQL database of the catalogue. Absent fields have their defaults.',
  },
);

const Outbound = Type.Object(
  {
    allowPrivate: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$', description: 'An address or CIDR range.' }), {
        description: 'Private addresses to which connections are allowed.',
      }),
    ),
    allowFiles: Type.Optional(Type.Boolean({ default: false, description: 'Allow file:/// repositories.' })),
    caFile: Type.Optional(Text('PEM file of further trusted certificate authorities.')),
  },
  { ...CLOSED, description: 'Connections to Git servers and other registries.' },
);

const Metrics = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address of its listener.' })),
    port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Port; must differ from listen.port.' }),
  },
  { ...CLOSED, description: 'Listener of /metrics, without authentication. Absent: no metrics are served.' },
);

const Limits = Type.Object(
  {
    requestsPerMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Requests of one client address per minute, on average. Absent: no limit.',
      }),
    ),
    trustedProxies: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$', description: 'An address or CIDR range.' }), {
        description: 'Proxies whose X-Forwarded-For names the client. Empty: the client is the host that connects.',
      }),
    ),
    requestTimeout: Type.Optional(
      Duration('Time after which a request without a response gets 503.', { default: '10s' }),
    ),
    shutdownGrace: Type.Optional(
      Duration('After SIGTERM: how long new requests are still answered, while /readiness says 503.', {
        default: '5s',
      }),
    ),
    headerBytes: Type.Optional(
      Type.Integer({
        minimum: 4096,
        maximum: 1_048_576,
        default: 32_768,
        description: 'Largest head of a request, its token included.',
      }),
    ),
    connections: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: 10_000,
        description: 'Connections at the same time; further ones are ended.',
      }),
    ),
  },
  { ...CLOSED, description: 'Limits for one client, or for all clients together.' },
);

/**
 * JSON Schema of the file. `settleConfig` fills in the defaults. Each value can come from the variable
 * SKEP_REGISTRY_<PATH>, or from THV_REGISTRY_<PATH>, as in ToolHive.
 */
export const REGISTRY_CONFIG_SCHEMA = Type.Object(
  {
    registryName: Type.Optional(
      Type.String({ minLength: 1, default: 'default', description: 'Name of the MCPRegistry: part of the store key.' }),
    ),
    namespace: Type.Optional(
      Type.String({
        minLength: 1,
        default: 'default',
        description: 'Namespace of the MCPRegistry: part of the store key.',
      }),
    ),
    displayName: Type.Optional(Type.String({ minLength: 1, description: 'Name for people: the title of the page.' })),
    listen: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address to listen on.' })),
          port: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: 'TCP port; 0: any free one.' }),
          ),
        },
        { ...CLOSED, description: 'Listener for clients.' },
      ),
    ),
    metrics: Type.Optional(Metrics),
    limits: Type.Optional(Limits),
    registries: Type.Array(Registry, { minItems: 1, description: 'Served registries, one per `{registry_name}`.' }),
    outbound: Type.Optional(Outbound),
    dataDir: Type.Optional(Text('Folder for copies of Git repositories; it can be rebuilt. Default: a temporary one.')),
    database: Type.Optional(Database),
    auth: Type.Optional(Auth),
    page: Type.Optional(
      Type.Enum(['enabled', 'disabled'], { default: 'enabled', description: 'Whether the web page is served at /.' }),
    ),
    running: Type.Optional(
      Type.Enum(['enabled', 'disabled'], {
        description:
          'Whether readers see the servers that run in the namespace with their URLs: GET /mcp, and the page. Default: enabled in mode oauth, disabled in mode anonymous, because every client would see internal addresses.',
      }),
    ),
    telemetry: Type.Optional(Type.Object({}, { description: 'Accepted; has no effect.' })),
  },
  { ...CLOSED, title: 'Registry service configuration' },
);

/** Written file, in which fields with a default may be missing. */
export type RegistryConfigFile = Static<typeof REGISTRY_CONFIG_SCHEMA>;

export const registryConfigCheck = schemaCheck<RegistryConfigFile>(REGISTRY_CONFIG_SCHEMA);
