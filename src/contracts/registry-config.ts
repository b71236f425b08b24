// The registry service's configuration file: the shape that MCPRegistry renders and `skep serve` reads.
// Knows neither how a file is parsed nor what the service does with it.
// Sources: document 1 (section `auth`), document 2 (MCPRegistry), registry.md 2.1 for the parts both leave open.

import { DURATION_PATTERN } from '../std/duration.ts';
import { type Static, Type } from '../std/json-schema.ts';
import { DATABASE_DEFAULTS, SSL_MODES } from './database-defaults.ts';

const Text = (description: string) => Type.String({ minLength: 1, description });
const Url = (description: string) =>
  Type.String({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]', description: `${description} An http or https URL.` });
const Duration = (description: string, keywords: { default?: string } = {}) =>
  Type.String({ pattern: DURATION_PATTERN, description: `${description} A duration such as 1h30m.`, ...keywords });
const Texts = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });
const CLOSED = { additionalProperties: false } as const;

const GitOrigin = Type.Object(
  {
    repository: Type.String({
      pattern: '^(file:///|https?://|git@|ssh://|git://)',
      description: 'URL of the repository: file:///, http(s)://, git@, ssh:// or git://.',
    }),
    branch: Type.Optional(Text('At most one of branch, tag and commit; none means the default branch.')),
    tag: Type.Optional(Text('See branch.')),
    commit: Type.Optional(Text('See branch.')),
    path: Type.Optional(
      Type.String({ pattern: '\\.json$', default: 'registry.json', description: 'JSON file inside the repository.' }),
    ),
    auth: Type.Optional(
      Type.Object(
        {
          username: Text('User name for HTTP Basic authentication.'),
          passwordFile: Text('File that holds the password.'),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

const FileOrigin = Type.Object(
  {
    path: Type.Optional(Text('File to read. Exactly one of path and url.')),
    url: Type.Optional(Url('URL to read. Exactly one of path and url.')),
    timeout: Type.Optional(Duration('Time limit of reading the url.', { default: '30s' })),
  },
  CLOSED,
);

const Globs = Type.Object(
  {
    include: Type.Optional(Texts('Kept where the list is empty or one entry matches.')),
    exclude: Type.Optional(Texts('Left out where one entry matches; wins over include.')),
  },
  CLOSED,
);

const Registry = Type.Object(
  {
    name: Text('The {registry_name} of the paths; unique.'),
    format: Type.Optional(
      Type.Enum(['toolhive', 'upstream'], { description: 'Default: upstream for api, else toolhive.' }),
    ),
    git: Type.Optional(GitOrigin),
    api: Type.Optional(
      Type.Object({ endpoint: Url('Base URL of another registry; the API path is appended.') }, CLOSED),
    ),
    file: Type.Optional(FileOrigin),
    kubernetes: Type.Optional(Type.Object({}, { ...CLOSED, description: 'Accepted; served empty.' })),
    managed: Type.Optional(Type.Object({}, { ...CLOSED, description: 'Accepted; served empty.' })),
    syncPolicy: Type.Optional(
      Type.Object(
        {
          interval: Duration('Time between two reads. Without a syncPolicy the source is read at start and on demand.'),
        },
        CLOSED,
      ),
    ),
    syncedBy: Type.Optional(
      Type.Enum(['service', 'reconciler'], {
        default: 'service',
        description: 'Who reads the source: this service, or the reconciler that wrote this file.',
      }),
    ),
    filter: Type.Optional(Type.Object({ names: Type.Optional(Globs), tags: Type.Optional(Globs) }, CLOSED)),
  },
  { ...CLOSED, description: 'Exactly one of git, api, file, kubernetes and managed.' },
);

const Provider = Type.Object(
  {
    name: Text('Name in logs.'),
    issuerUrl: Url('Must equal the `iss` claim of accepted tokens exactly.'),
    audience: Text('Expected `aud` claim.'),
    jwksUrl: Type.Optional(Url('JWKS endpoint; discovery is skipped.')),
    introspectionUrl: Type.Optional(Url('RFC 7662 endpoint; without it only JWTs can be validated.')),
    clientId: Type.Optional(Text('Client id for introspection.')),
    clientSecretFile: Type.Optional(Text('File that holds the client secret for introspection.')),
    caCertPath: Type.Optional(Text('PEM file that replaces the trusted roots for this provider.')),
    authTokenFile: Type.Optional(Text('File that holds a bearer token for JWKS and introspection requests.')),
    allowPrivateIP: Type.Optional(Type.Boolean({ default: false, description: 'Allow private addresses.' })),
  },
  CLOSED,
);

const OAuth = Type.Object(
  {
    resourceUrl: Url('URL of this service as clients know it: `resource` of the discovery document.'),
    realm: Type.Optional(
      Type.String({
        default: 'mcp-registry',
        pattern: '^[\\x20-\\x7e]+$',
        description: 'Realm of the challenge, in ASCII.',
      }),
    ),
    scopesSupported: Type.Optional(
      Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$', description: 'A scope (RFC 6749).' }), {
        default: ['mcp-registry:read', 'mcp-registry:write'],
        description: 'Scopes advertised in the discovery document.',
      }),
    ),
    enforceScopes: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Reading needs the scope mcp-registry:read, a manual sync mcp-registry:write.',
      }),
    ),
    publicPaths: Type.Optional(Texts('Further paths without authentication, with everything below them.')),
    resourceDocumentation: Type.Optional(Url('`resource_documentation` of the discovery document.')),
    providers: Type.Optional(Type.Array(Provider, { description: 'Identity providers; at least one.' })),
  },
  CLOSED,
);

const Auth = Type.Object(
  {
    mode: Type.Optional(Type.Enum(['oauth', 'anonymous'], { default: 'oauth' })),
    publicPaths: Type.Optional(Texts('The same as oauth.publicPaths.')),
    oauth: Type.Optional(OAuth),
  },
  CLOSED,
);

const Database = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, default: DATABASE_DEFAULTS.host })),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: DATABASE_DEFAULTS.port })),
    user: Type.Optional(
      Type.String({ minLength: 1, default: DATABASE_DEFAULTS.user, description: 'User with DML only.' }),
    ),
    migrationUser: Type.Optional(
      Type.String({ minLength: 1, default: DATABASE_DEFAULTS.migrationUser, description: 'User with DDL.' }),
    ),
    database: Type.Optional(Type.String({ minLength: 1, default: DATABASE_DEFAULTS.database })),
    sslMode: Type.Optional(Type.Enum([...SSL_MODES], { default: DATABASE_DEFAULTS.sslMode })),
    caFile: Type.Optional(Text('PEM file of the certificate authority, for verify-ca and verify-full.')),
    passFile: Type.Optional(Text("Password file in PostgreSQL's own format; default: the file that PGPASSFILE names.")),
    maxOpenConns: Type.Optional(Type.Integer({ minimum: 1, default: DATABASE_DEFAULTS.maxOpenConns })),
    maxIdleConns: Type.Optional(Type.Integer({ minimum: 0, default: DATABASE_DEFAULTS.maxIdleConns })),
    connMaxLifetime: Type.Optional(
      Duration('Longest life of a connection.', { default: DATABASE_DEFAULTS.connMaxLifetime }),
    ),
    maxMetaSize: Type.Optional(Type.Integer({ minimum: 1, description: 'Accepted; has no effect.' })),
  },
  CLOSED,
);

const Outbound = Type.Object(
  {
    allowPrivate: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$', description: 'An address or CIDR range.' }), {
        description: 'Private addresses that may be connected to.',
      }),
    ),
    allowFiles: Type.Optional(Type.Boolean({ default: false, description: 'Allow file:/// repositories.' })),
    caFile: Type.Optional(Text('PEM file of further trusted certificate authorities.')),
  },
  { ...CLOSED, description: 'Connections to Git servers and other registries.' },
);

const Metrics = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, default: '0.0.0.0' })),
    port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Another port than that of the registry.' }),
  },
  { ...CLOSED, description: 'Where /metrics is served, without authentication. Without it there are no metrics.' },
);

const Limits = Type.Object(
  {
    requestsPerMinute: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of one client address, on average. Without it there is no limit.' }),
    ),
    trustedProxies: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$', description: 'An address or CIDR range.' }), {
        description: 'Proxies whose X-Forwarded-For names the client. None: the client is who connects.',
      }),
    ),
    requestTimeout: Type.Optional(Duration('Until a request that is not answered gets 503.', { default: '10s' })),
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
  { ...CLOSED, description: 'What one client, or all of them, may use up.' },
);

/**
 * JSON Schema of the file. Defaults are documented here and filled in by `settleConfig`. Every value can come from the
 * environment as SKEP_REGISTRY_<PATH>, or THV_REGISTRY_<PATH> as on the existing platform.
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
    listen: Type.Optional(
      Type.Object(
        {
          host: Type.Optional(Type.String({ minLength: 1, default: '0.0.0.0' })),
          port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 })),
        },
        CLOSED,
      ),
    ),
    metrics: Type.Optional(Metrics),
    limits: Type.Optional(Limits),
    registries: Type.Array(Registry, { minItems: 1, description: 'What is served, one per `{registry_name}`.' }),
    outbound: Type.Optional(Outbound),
    dataDir: Type.Optional(Text('Folder for copies of Git repositories; it can be rebuilt. Default: a temporary one.')),
    database: Type.Optional(Database),
    auth: Type.Optional(Auth),
    telemetry: Type.Optional(Type.Object({}, { description: 'Accepted; has no effect.' })),
  },
  { ...CLOSED, title: 'Registry service configuration' },
);

/** The file as it is written: what has a default may be left out. */
export type RegistryConfigFile = Static<typeof REGISTRY_CONFIG_SCHEMA>;
