// Defines every field of MCPServer.

import { RateLimiting } from '#contracts/gate/rate-limiting.ts';
import { IMAGE } from '#contracts/proxy-fields.ts';
import { addressed } from '#std/address/address.ts';
import { anyObject, bool, choice, integer, list, object, optional, port, text } from '#std/schema.ts';
import { AuthzConfig, AuthzConfigRef, ONE_AUTHZ_CONFIG } from '../auth/authz.ts';
import { OIDCConfig, OIDCConfigRef, ONE_OIDC_CONFIG } from '../auth/oidc.ts';
import { AuthServerRef } from '../auth/server/ref.ts';
import { ConditionsSchema } from '../conditions.ts';
import { envField, resourcesField, secretsField, volumesField } from '../pods/container.ts';
import { ResourceOverrides } from '../proxy/overrides.ts';
import { SessionStorage } from '../proxy/session.ts';
import { ONE_TELEMETRY, TelemetryConfigRef } from '../proxy/shared-telemetry.ts';
import { AuditConfig, TelemetryConfig } from '../proxy/telemetry.ts';
import { groupRefField, namedRef, nameField } from '../selectors.ts';
import { SETTINGS_HASHES } from '../shared-settings.ts';

const PermissionProfile = object(
  {
    type: choice('builtin: a profile of skep. configmap: your own profile.', ['builtin', 'configmap'], {
      default: 'builtin',
    }),
    name: nameField('Name of the built-in profile (none or network), or name of the ConfigMap.'),
    key: optional(text('Key of the ConfigMap with the profile.', { minLength: 1 })),
  },
  'Hosts that the server may reach, which a NetworkPolicy enforces. Your own profile is JSON or YAML with network.outbound: insecureAllowAll, allowHost (addresses or networks), allowPort.',
  {
    validations: [
      {
        rule: "self.type != 'builtin' || self.name in ['none', 'network']",
        message: "name must be 'none' or 'network' when type is 'builtin'",
      },
      {
        rule: "self.type != 'configmap' || has(self.key)",
        message: "key must be set when type is 'configmap'",
      },
    ],
  },
);

/** Refuses commas and line breaks, because tool names are sent in comma-separated lists. */
const ToolName = text('Name of a tool.', { minLength: 1, pattern: '^[^,\\r\\n]+$' });

const WITH_USERS = 'has(self.oidcConfig) || has(self.oidcConfigRef) || has(self.externalAuthConfigRef)';

const RATE_LIMIT_RULES = [
  {
    rule: "!has(self.rateLimiting) || (has(self.sessionStorage) && self.sessionStorage.provider == 'redis')",
    message: "rateLimiting requires sessionStorage with provider 'redis'",
    fieldPath: '.rateLimiting',
  },
  {
    rule: `!(has(self.rateLimiting) && has(self.rateLimiting.perUser)) || ${WITH_USERS}`,
    message: 'rateLimiting.perUser requires authentication (oidcConfigRef or externalAuthConfigRef)',
    fieldPath: '.rateLimiting.perUser',
  },
  {
    rule: `!has(self.rateLimiting) || !has(self.rateLimiting.tools) || self.rateLimiting.tools.all(t, !has(t.perUser)) || ${WITH_USERS}`,
    message: 'per-tool perUser rate limiting requires authentication (oidcConfigRef or externalAuthConfigRef)',
    fieldPath: '.rateLimiting.tools',
  },
] as const;

export const MCPServerSpec = object(
  {
    image: IMAGE,
    transport: choice('Transport of the server in the container.', ['stdio', 'streamable-http', 'sse'], {
      default: 'stdio',
    }),
    proxyMode: choice('Transport for clients if transport is stdio. No effect otherwise.', ['sse', 'streamable-http'], {
      default: 'streamable-http',
    }),
    port: port('Port of the proxy. No effect if proxyPort is set to another port than 8080.', {
      default: 8080,
      deprecated: { use: 'proxyPort' },
    }),
    targetPort: optional(port('Port of the MCP server, while mcpPort is unset.', { deprecated: { use: 'mcpPort' } })),
    proxyPort: port('Port of the proxy, and of its Service.', { default: 8080 }),
    mcpPort: optional(
      port('Port on which the MCP server listens, unless transport is stdio. Default: 8080, passed to it as MCP_PORT.'),
    ),
    args: optional(list(text('An argument.'), 'Arguments of the MCP server.')),
    env: optional(envField('Environment of the MCP server.')),
    volumes: optional(volumesField('Paths of the node to mount into the container of the MCP server.')),
    resources: optional(resourcesField('Resources of the container of the MCP server.')),
    secrets: optional(secretsField('Secrets that the MCP server gets as environment variables.')),
    serviceAccount: optional(
      nameField('Service account of the MCP server. Without it, one without rights is created.'),
    ),
    permissionProfile: optional(PermissionProfile),
    podTemplateSpec: optional(
      anyObject('Changes to the pod of the MCP server, as a pod template. Its container is named mcp.'),
    ),
    resourceOverrides: optional(ResourceOverrides),
    oidcConfig: optional(OIDCConfig),
    oidcConfigRef: optional(OIDCConfigRef),
    authzConfig: optional(AuthzConfig),
    authzConfigRef: optional(AuthzConfigRef),
    audit: optional(AuditConfig),
    tools: optional(
      list(ToolName, 'The tools that clients see; if empty, all. No effect with toolConfigRef.', {
        deprecated: { use: 'toolConfigRef' },
      }),
    ),
    toolConfigRef: optional(namedRef('Tools that clients see, and their names.', 'MCPToolConfig')),
    authServerRef: optional(AuthServerRef),
    externalAuthConfigRef: optional(
      namedRef('Authentication of the proxy to the server behind it.', 'MCPExternalAuthConfig'),
    ),
    telemetry: optional(TelemetryConfig),
    telemetryConfigRef: optional(TelemetryConfigRef),
    trustProxyHeaders: bool(
      'True: X-Forwarded-Proto, -Host, -Port and -Prefix are trusted when endpoint URLs are built.',
      false,
    ),
    endpointPrefix: optional(
      addressed(text('Path put before SSE endpoint URLs, for an ingress that strips it.'), 'path'),
    ),
    groupRef: optional(
      groupRefField('The MCPGroup that the server belongs to, in the same namespace. v1alpha1 writes its name alone.'),
    ),
    sessionAffinity: choice('Whether a client stays with one pod of the proxy.', ['ClientIP', 'None'], {
      default: 'ClientIP',
    }),
    replicas: optional(
      integer('Number of proxies. Unset: another controller decides, such as an autoscaler. stdio has at most one.', {
        minimum: 0,
      }),
    ),
    backendReplicas: optional(
      integer(
        'Number of MCP servers. Unset: another controller decides, such as an autoscaler. stdio has at most one, unless skep.dev/stdio-sharing is perSession.',
        {
          minimum: 0,
        },
      ),
    ),
    sessionStorage: optional(SessionStorage),
    rateLimiting: optional(RateLimiting),
    webhookConfigRef: optional(
      namedRef('Webhooks that check or change requests before the server receives them.', 'MCPWebhookConfig'),
    ),
  },
  'The desired state of the server.',
  { validations: [ONE_OIDC_CONFIG, ONE_TELEMETRY, ONE_AUTHZ_CONFIG, ...RATE_LIMIT_RULES] },
);

export const MCPServerStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the server that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: optional(choice('State of the server.', ['Pending', 'Running', 'Failed', 'Terminating', 'Stopped'])),
    message: optional(text('Reason, for people.')),
    url: optional(text('URL of the server for clients inside the cluster.')),
    readyReplicas: optional(integer('Number of ready proxies.', { minimum: 0 })),
    ...SETTINGS_HASHES,
    webhookConfigHash: optional(text('configHash of the MCPWebhookConfig in use.')),
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the server.',
);
