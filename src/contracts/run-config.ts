// Defines the configuration of the proxy in front of one MCP server, which MCPServer and MCPRemoteProxy render into a
// ConfigMap and `skep proxy` reads. Key names follow ToolHive's run configuration if ToolHive has the key.
//
// The contract, beyond this file:
// - The proxy runs as `proxy --config=/etc/runconfig/runconfig.json` in skep's image. ToolHive's images accept other
//   arguments and create the backend themselves, so they are not supported.
// - The proxy creates no workloads. The backend's StatefulSet and Services are children of the MCPServer.
// - HTTP transports: the proxy connects to `target_host:target_port`, and needs no rights in the cluster for this.
// - stdio: the proxy attaches to the container and the pod that `attach` names (Kubernetes `pods/attach`, with separate
//   stdin, stdout and stderr). The proxy may `get` the pod, and `create` and `get` its `attach`. If sessions share the
//   process, the pod has a fixed name, and the proxy attaches again after a restart. With `stdio.sharing: perSession`,
//   `stdio.pods` pods exist, the proxy may also `delete` them, and `attach` names the first pod.
// - `sleep`: the proxy sets the number of pods of the StatefulSet to 0 while no client uses the server, and to 1 for
//   the next call. It may `get` and `patch` the `scale` of that StatefulSet, and `get` the `scale` of its own
//   Deployment.
// - `remote_url`: URL of a remote MCP server. Every request to the server gets the headers in `header_forward`, which
//   replace equal headers of the caller and of authentication. Headers from Secrets take precedence over plain headers.
// - The file contains no secrets. In a cluster each secret is a file in SECRETS_DIRECTORY, which the proxy reads again
//   after changes. Outside of a cluster, secrets are in environment variables: SECRET_ENV, or variables in blocks.
// - run-config-keys.ts defines which keys are read at the start, again, or never. A checksum in the annotations of the
//   pods contains the keys that are read at the start.
// - `image`, `cmd_args`, `env_vars` and `volumes` describe the backend for people and tools. The proxy ignores them.

import assert from 'node:assert/strict';
import { addressed } from '#std/address/address.ts';
import { type Static, Type } from '#std/json-schema.ts';
import { GROUP_FIELDS } from './authz-config.ts';
import { fileForm, filled } from './file-form.ts';
import { RateLimiting } from './gate/rate-limiting.ts';
import { WEBHOOKS } from './gate/webhooks.ts';
import { AuditFailure, IMAGE, REDIS, REMOTE_URL, SAMPLING_RATE } from './proxy-fields.ts';
import { OUTGOING_AUTH } from './run-config-auth.ts';
import { SERVICE_BLOCKS } from './run-config-service.ts';
import { firstMisfit, schemaCheck } from './schema-check.ts';
import { TOOLS_LOCK } from './tool-lock/held.ts';
import { ToolOverrides, ToolsFilter } from './tool-override.ts';

/** Folder into which the file is mounted. The name of the file is also its key in the ConfigMap. */
export const RUN_CONFIG_DIRECTORY = '/etc/runconfig';
export const RUN_CONFIG_FILE = 'runconfig.json';

/** Environment variables with secrets, which the file does not contain. */
export const SECRET_ENV = {
  oidcClientSecret: 'TOOLHIVE_OIDC_CLIENT_SECRET',
  sessionRedisPassword: 'THV_SESSION_REDIS_PASSWORD',
  /** Returns the variable with the value of a header. `identifier`: identifier of the header in `header_forward`. */
  forwardedHeader: (identifier: string) => `TOOLHIVE_SECRET_${identifier}`,
} as const;

/** Folder into which Secrets are mounted in a cluster, as one file each. */
export const SECRETS_DIRECTORY = '/etc/skep/secrets';

/** Folder to which the container may write. */
export const SCRATCH_PATH = '/tmp';

/**
 * NODE_OPTIONS of pods that process many calls at once, in place of the image's options. V8 copies the data of running
 * calls whenever new objects have filled this many MiB. Memory grows only if needed.
 */
export const CALLS_NODE_OPTIONS = '--max-semi-space-size=32';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Port = (description: string) => Type.Integer({ minimum: 1, maximum: 65_535, description });
const Texts = (description: string) => Type.Array(Text('An item.'), { description });
const TextMap = (description: string) => Type.Record(Type.String(), Type.String(), { description });

const Attach = Type.Object(
  {
    namespace: Text('Namespace of the pod.'),
    pod: Text('Name of the pod.'),
    container: Text('Name of the container.'),
  },
  { ...CLOSED, description: 'For stdio: the container whose standard streams are the MCP server.' },
);

const OIDC = Type.Object(
  {
    issuer: addressed(Text('Issuer of accepted tokens.'), 'url'),
    issuer_is_api_server: Type.Optional(
      Type.Boolean({
        description:
          'The issuer is the API server of the cluster: the issuer that its discovery document names is accepted as well, and its own keys verify.',
      }),
    ),
    audience: Type.Optional(Text('Audience of accepted tokens.')),
    service_account: Type.Optional(
      Type.Object(
        {
          namespace: Text('Namespace of the account.'),
          name: Type.Optional(Text('Name of the account. Absent: every account of the namespace.')),
        },
        { ...CLOSED, description: 'Only tokens of this service account of the cluster are accepted.' },
      ),
    ),
    jwks_url: Type.Optional(addressed(Text('URL of the signing keys. Absent: discovery finds it.'), 'url')),
    introspection_url: Type.Optional(addressed(Text('URL at which opaque tokens are checked (RFC 7662).'), 'url')),
    client_id: Type.Optional(Text('Client id for introspection.')),
    client_secret_file: Type.Optional(
      Text('File with the client secret for introspection; the variable of SECRET_ENV otherwise.'),
    ),
    ca_bundle_path: Type.Optional(Text('PEM file to trust for requests to the issuer.')),
    auth_token_file: Type.Optional(
      Text('File with a bearer token for requests to the issuer; read again when it changes.'),
    ),
    jwks_allow_private_ip: Type.Boolean({ description: 'The issuer may be at a private address.' }),
    protected_resource_allow_private_ip: Type.Boolean({ description: 'The resource may be at a private address.' }),
    insecure_allow_http: Type.Boolean({ description: 'Plain HTTP to the issuer is accepted.' }),
    resource_url: addressed(Text('`resource` of the protected-resource metadata (RFC 9728).'), 'resource'),
    scopes: Texts('`scopes_supported` of the protected-resource metadata.'),
  },
  { ...CLOSED, description: 'Absent: callers are not authenticated.' },
);

const Telemetry = Type.Object(
  {
    service_name: Text('Name that telemetry is sent under.'),
    endpoint: Type.Optional(
      addressed(
        Text(
          'URL of the OTLP collector; http:// means plain HTTP, a path stays. host:port is the same as https://host:port.',
        ),
        'collector',
      ),
    ),
    headers: Type.Optional(TextMap('Headers sent to the collector.')),
    headers_from_file: Type.Optional(
      TextMap('Files with the values of further headers, by name; read again when they change.'),
    ),
    headers_from_variable: Type.Optional(TextMap('Environment variables with the values of further headers, by name.')),
    ca_cert_path: Type.Optional(
      Text('PEM file with certificates to trust for the collector, in addition to the roots of the image.'),
    ),
    insecure: Type.Boolean({ description: 'Plain HTTP to the collector, if the URL has no scheme.' }),
    metrics_enabled: Type.Boolean({ description: 'Metrics are sent over OTLP.' }),
    tracing_enabled: Type.Boolean({ description: 'Traces are sent over OTLP.' }),
    sampling_rate: fileForm(SAMPLING_RATE),
    use_legacy_attributes: Type.Boolean({ description: 'Older attribute names are sent too.' }),
    enable_prometheus_metrics_path: Type.Boolean({ description: '/metrics is served on the transport port.' }),
    custom_attributes: Type.Optional(TextMap('Attributes of the resource, on all signals.')),
    environment_variables: Type.Optional(Texts('Variables whose values are span attributes `environment.<NAME>`.')),
  },
  { ...CLOSED, description: 'Absent: no telemetry.' },
);

const Scaling = Type.Object(
  {
    backend_replicas: Type.Optional(Type.Integer({ minimum: 0, description: 'Declared number of MCP servers.' })),
    session_redis: Type.Optional(
      Type.Object(
        {
          address: REDIS.address,
          db: fileForm(REDIS.db),
          key_prefix: Type.Optional(filled(REDIS.keyPrefix)),
          password_file: Type.Optional(Text('File with the password; the variable of SECRET_ENV otherwise.')),
        },
        { ...CLOSED, description: 'Absent: sessions are kept in memory.' },
      ),
    ),
  },
  CLOSED,
);

const HeaderForward = Type.Object(
  {
    add_plaintext_headers: Type.Optional(TextMap('Values by name.')),
    add_headers_from_secret: Type.Optional(TextMap('Identifiers by name: see SECRET_ENV.forwardedHeader.')),
    add_headers_from_file: Type.Optional(TextMap('Files with values, by name; read again when they change.')),
  },
  { ...CLOSED, description: 'Headers of every request to `remote_url`.' },
);

const Transport = Type.Enum(['stdio', 'streamable-http', 'sse'], { description: 'Transport of the MCP server.' });

/** JSON Schema of the file. */
export const RUN_CONFIG_SCHEMA = Type.Object(
  {
    schema_version: Type.Literal('v0.1.0'),
    name: Text('Name of the resource.'),
    namespace: Text('Namespace of the resource.'),
    group: Type.Optional(Text('Name of its MCPGroup.')),
    image: Type.Optional(IMAGE),
    cmd_args: Type.Optional(Type.Array(Type.String(), { description: 'Arguments of the MCP server.' })),
    env_vars: Type.Optional(TextMap('Plain environment of the MCP server.')),
    volumes: Type.Optional(Texts('host:container or host:container:ro')),
    permission_profile_name_or_path: Type.Optional(Text('Name of a built-in profile, or a file.')),
    transport: Transport,
    proxy_mode: Type.Enum(['sse', 'streamable-http'], { description: 'Transport for clients.' }),
    host: addressed(Text('Address to listen on.'), 'host'),
    port: Port('Port to listen on.'),
    attach: Type.Optional(Attach),
    target_host: Type.Optional(
      addressed(Text('Host of the MCP server. Absent for stdio, and if it is remote.'), 'host'),
    ),
    target_port: Type.Optional(Port('Port of the MCP server. Absent for stdio, and if it is remote.')),
    remote_url: Type.Optional(addressed(REMOTE_URL, 'url')),
    header_forward: Type.Optional(HeaderForward),
    trust_proxy_headers: Type.Boolean({ description: 'X-Forwarded-* headers build endpoint URLs.' }),
    endpoint_prefix: Type.Optional(addressed(Text('Path put before SSE endpoint URLs.'), 'path')),
    oidc_config: Type.Optional(OIDC),
    ...OUTGOING_AUTH,
    authz_config_path: Type.Optional(Text('File with the Cedar policies. Absent: callers may do everything.')),
    authz_groups: Type.Optional(
      Type.Object(GROUP_FIELDS, {
        ...CLOSED,
        description: 'Wins over the same fields in the file with the policies.',
      }),
    ),
    audit_config: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Audit events are written.' }),
        component: Text('Component of the events.'),
        on_failure: Type.Optional(AuditFailure),
      },
      CLOSED,
    ),
    telemetry_config: Type.Optional(Telemetry),
    tools_filter: Type.Optional(fileForm(ToolsFilter)),
    tools_override: Type.Optional(ToolOverrides),
    tools_lock: Type.Optional(TOOLS_LOCK),
    scaling_config: Type.Optional(Scaling),
    rate_limiting: Type.Optional(fileForm(RateLimiting)),
    webhooks: Type.Optional(WEBHOOKS),
    ...SERVICE_BLOCKS,
  },
  { ...CLOSED, title: 'Proxy configuration' },
);

export type RunConfig = Static<typeof RUN_CONFIG_SCHEMA>;

export const runConfigCheck = schemaCheck<RunConfig>(RUN_CONFIG_SCHEMA);

/**
 * Returns the text of the file. Equal configurations have equal texts. Throws if the configuration does not fit the
 * schema.
 */
export function formatRunConfig(config: RunConfig): string {
  const fits = runConfigCheck();
  fits(config);
  const misfit = firstMisfit(fits);
  assert(misfit === undefined, `run configuration ${config.name}: ${misfit?.pointer} ${misfit?.message}`);
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
