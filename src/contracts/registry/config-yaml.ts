// Defines the schema of `configYAML` in an MCPRegistry. The text has the format of the configuration of ToolHive's
// registry server, release 1.

import { type Static, Type } from '#std/json-schema.ts';
import { DATABASE } from '../database-fields.ts';
import { fileForm, filled, setting } from '../file-form.ts';
import { schemaCheck } from '../schema-check.ts';
import { CLOSED, Duration, Texts, Url } from './config-words.ts';
import { ENDPOINT, filter, GIT, INTERVAL, NAME, OAUTH, PROVIDER } from './fields.ts';
import { DATABASE_LOGIN, DATABASE_POOL, GIT_SETTINGS, PROVIDER_ENDPOINTS, PROVIDER_TOKENS } from './file-fields.ts';
import { SOURCE_FORMATS } from './source.ts';

const LABEL = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$';
const File = (description: string) => Type.String({ pattern: '^/', description: `${description} An absolute path.` });

const Git = Type.Object(
  {
    ...GIT_SETTINGS,
    auth: Type.Optional(
      Type.Object({ username: fileForm(GIT.username), passwordFile: File('File with the password.') }, CLOSED),
    ),
  },
  CLOSED,
);

const Source = Type.Object(
  {
    name: Type.String({ pattern: LABEL, description: 'A DNS label.' }),
    format: Type.Optional(Type.Enum([...SOURCE_FORMATS], { description: 'Releases before May 2026 have it.' })),
    git: Type.Optional(Git),
    api: Type.Optional(Type.Object({ endpoint: fileForm(ENDPOINT) }, CLOSED)),
    file: Type.Optional(
      Type.Object(
        {
          path: Type.Optional(File('File in the container.')),
          url: Type.Optional(Url('URL of the file.')),
          timeout: Type.Optional(Duration('Time limit of reading the url.')),
        },
        CLOSED,
      ),
    ),
    kubernetes: Type.Optional(
      Type.Object(
        {
          namespaces: Type.Optional(
            Type.Array(Type.String({ pattern: LABEL, description: 'A namespace.' }), {
              description: 'Names of namespaces.',
            }),
          ),
        },
        CLOSED,
      ),
    ),
    syncPolicy: Type.Optional(Type.Object({ interval: fileForm(INTERVAL) }, CLOSED)),
    filter: Type.Optional(fileForm(filter(filled))),
  },
  CLOSED,
);

const Served = Type.Object(
  { name: fileForm(NAME), sources: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }) },
  CLOSED,
);

/** ToolHive requires `host`, `port`, `user` and `database`. */
const Database = Type.Object(
  {
    ...DATABASE_LOGIN,
    host: fileForm(filled(DATABASE.host)),
    port: fileForm(DATABASE.port),
    user: fileForm(filled(DATABASE.user)),
    database: fileForm(filled(DATABASE.database)),
    ...DATABASE_POOL,
  },
  CLOSED,
);

const Provider = Type.Object(
  {
    ...PROVIDER_TOKENS,
    ...PROVIDER_ENDPOINTS,
    clientSecretFile: Type.Optional(File('File with the client secret.')),
    caCertPath: Type.Optional(File('PEM file to trust.')),
    authTokenFile: Type.Optional(File('File with a bearer token.')),
    allowPrivateIP: setting(PROVIDER.allowPrivateIP),
  },
  CLOSED,
);

const Auth = Type.Object(
  {
    mode: Type.Enum(['anonymous', 'oauth']),
    publicPaths: Type.Optional(Texts('Further paths without authentication.')),
    oauth: Type.Optional(
      Type.Object(
        {
          resourceUrl: Type.Optional(Url('URL by which clients know the registry.')),
          realm: setting(OAUTH.realm),
          scopesSupported: setting(OAUTH.scopesSupported),
          providers: Type.Array(Provider, { minItems: 1 }),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

export const CONFIG_YAML = Type.Object(
  {
    sources: Type.Array(Source, { minItems: 1, maxItems: 128 }),
    registries: Type.Array(Served, { minItems: 1, maxItems: 128 }),
    database: Type.Optional(Database),
    auth: Auth,
  },
  CLOSED,
);

export type ConfigYaml = Static<typeof CONFIG_YAML>;

export const configYamlCheck = schemaCheck<ConfigYaml>(CONFIG_YAML);

/** ToolHive's default of `database.sslMode`. */
export const CONFIG_YAML_SSL_MODE = 'require';

/** Keys of ToolHive's configuration that skep refuses, each with the reason. `*` in a pointer stands for an index. */
export const REFUSED_KEYS: Readonly<Record<string, string>> = {
  '/sources/*/managed': 'entries come from Git: nothing can be published through the API of the service',
  '/sources/*/claims': 'each reader of a registry reads all of its entries',
  '/registries/*/claims': 'each reader of a registry reads all of its entries',
  '/sources/*/api/timeout': 'a page of another registry may take 60 s',
  '/sources/*/file/data': 'ToolHive accepts it through its API only',
  '/auth/authz': 'each reader of a registry reads all of its entries, and there is no API that changes them',
  '/database/password': 'a manifest must not hold passwords: name a Secret in spec.pgpassSecretRef',
  '/database/migrationPassword': 'a manifest must not hold passwords: name a Secret in spec.pgpassSecretRef',
  '/database/dynamicAuth': 'users of the database have passwords here',
  '/database/maxMetaSize': 'entries are stored as they are, up to 64 MiB for a source',
  '/telemetry': 'the service has metrics on port 8081, and no other telemetry',
  '/audit': 'the service writes one line of its log for each request, and has no audit events',
};
