// Defines every field of VirtualMCPServer, except the fields in `model.ts`.

import { PassthroughHeaders } from '#contracts/virtual/passthrough-headers.ts';
import { REFERENCE } from '#std/schema/marks.ts';
import { sameSpellings, spellingOf } from '#std/schema/spellings.ts';
import { anyObject, choice, integer, list, map, object, optional, type TSchema, text, time } from '#std/schema.ts';
import { AuthzConfig, AuthzConfigRef, ONE_AUTHZ_CONFIG } from '../auth/authz.ts';
import { OIDCConfig, OIDCConfigRef, ONE_OIDC_CONFIG } from '../auth/oidc.ts';
import { EmbeddedAuthServer } from '../auth/server/server.ts';
import { ConditionsSchema } from '../conditions.ts';
import { PullSecrets } from '../pods/pull-secrets.ts';
import { SessionStorage } from '../proxy/session.ts';
import { TelemetryConfigRef } from '../proxy/shared-telemetry.ts';
import { namedRef, nameField } from '../selectors.ts';
import { SETTINGS_HASHES } from '../shared-settings.ts';
import { VirtualConfig } from './model.ts';

const IncomingAuth = object(
  {
    type: choice('anonymous: anyone. oidc: callers with a token that oidcConfig or oidcConfigRef accepts.', [
      'anonymous',
      'oidc',
    ]),
    oidcConfig: optional(OIDCConfig),
    oidcConfigRef: optional(OIDCConfigRef),
    authzConfig: optional(AuthzConfig),
    authzConfigRef: optional(AuthzConfigRef),
  },
  'Authentication of clients.',
  {
    validations: [
      {
        rule: "self.type != 'oidc' || has(self.oidcConfig) || has(self.oidcConfigRef)",
        message: 'spec.incomingAuth.oidcConfig is required when type is oidc (v1beta1 calls it oidcConfigRef)',
      },
      ONE_OIDC_CONFIG,
      ONE_AUTHZ_CONFIG,
    ],
  },
);

function backendAuth(description: string) {
  return object(
    {
      type: choice(
        'discovered: the settings of the backend itself. external_auth_config_ref: the settings of an MCPExternalAuthConfig.',
        ['discovered', 'external_auth_config_ref'],
        { spellings: { external_auth_config_ref: 'externalAuthConfigRef' } },
      ),
      externalAuthConfigRef: optional(
        namedRef('Reference for type external_auth_config_ref.', 'MCPExternalAuthConfig'),
      ),
    },
    description,
    {
      validations: [
        {
          rule: "(self.type in ['external_auth_config_ref', 'externalAuthConfigRef']) == has(self.externalAuthConfigRef)",
          message:
            "externalAuthConfigRef must be set if type is 'externalAuthConfigRef' (v1alpha1 calls it 'external_auth_config_ref'), and must not be set otherwise",
        },
      ],
    },
  );
}

const OutgoingAuth = object(
  {
    source: choice(
      'discovered: the settings of each backend count. inline: only settings in this resource count.',
      ['discovered', 'inline'],
      { default: 'discovered' },
    ),
    default: optional(backendAuth('Settings for backends without other settings.')),
    backends: optional(
      map(
        backendAuth('Settings for one backend.'),
        'Settings by name of the backend; they take precedence over its own settings.',
        {
          maxProperties: 1000,
        },
      ),
    ),
  },
  'Authentication to backends. Default: the settings of each backend.',
);

const BACKENDS = 'has(self.config.backends) && self.config.backends.size() > 0';
const INLINE =
  "(has(self.outgoingAuth) ? self.outgoingAuth.source : has(self.config.outgoingAuth) ? self.config.outgoingAuth.source : 'discovered') == 'inline'";
const ISSUER =
  "has(self.incomingAuth.oidcConfig.inline) ? self.incomingAuth.oidcConfig.inline.issuer : has(self.incomingAuth.oidcConfig.kubernetes) ? self.incomingAuth.oidcConfig.kubernetes.issuer : 'https://kubernetes.default.svc'";

/** Fields with their v1beta1 names. The type of the spec contains only v1alpha1 names, which skep's code uses. */
const SPELLINGS: Readonly<Record<never, TSchema>> = {
  groupRef: spellingOf(
    {
      ...namedRef('The MCPGroup whose members are served. v1alpha1 calls it config.groupRef.', 'MCPGroup'),
      [REFERENCE]: true,
    },
    'config.groupRef',
  ),
};

export const VirtualMCPServerSpec = object(
  {
    ...SPELLINGS,
    incomingAuth: IncomingAuth,
    outgoingAuth: optional(OutgoingAuth),
    serviceType: choice('Type of the Service for clients.', ['ClusterIP', 'NodePort', 'LoadBalancer'], {
      default: 'ClusterIP',
    }),
    sessionAffinity: choice('Whether a client stays with one pod.', ['ClientIP', 'None'], { default: 'ClientIP' }),
    serviceAccount: optional(
      nameField('Service account of the pods. Without it, one with the required rights is created.'),
    ),
    imagePullSecrets: optional(PullSecrets),
    passthroughHeaders: optional(PassthroughHeaders),
    podTemplateSpec: optional(anyObject('Changes to the pods, as a pod template. The container is named vmcp.')),
    config: VirtualConfig,
    embeddingServerRef: optional(
      namedRef('Embedding server of the optimizer; turns the optimizer on.', 'EmbeddingServer'),
    ),
    authServerConfig: optional(EmbeddedAuthServer),
    telemetryConfigRef: optional(TelemetryConfigRef),
    replicas: optional(
      integer('Number of pods. Unset: another controller decides, such as an autoscaler.', { minimum: 0 }),
    ),
    sessionStorage: optional(SessionStorage),
  },
  'The desired state of the server.',
  {
    validations: [
      {
        rule: 'has(self.groupRef) || has(self.config.groupRef)',
        message: 'groupRef is required (v1alpha1 calls it config.groupRef)',
        fieldPath: '.groupRef',
      },
      sameSpellings('self.config.groupRef', 'self.groupRef', ['config.groupRef', 'groupRef'], 'self.groupRef.name'),
      {
        rule: '!has(self.config.telemetry) || !has(self.telemetryConfigRef)',
        message: 'config.telemetry and telemetryConfigRef are mutually exclusive: set telemetryConfigRef only',
        fieldPath: '.telemetryConfigRef',
      },
      {
        rule: `!(${BACKENDS}) || ${INLINE}`,
        message: "config.backends must be empty unless outgoingAuth.source is 'inline'",
        fieldPath: '.config.backends',
      },
      {
        rule: '!has(self.config.optimizer) || has(self.embeddingServerRef) || has(self.config.optimizer.embeddingService)',
        message: 'config.optimizer needs embeddingServerRef, or its own embeddingService',
        fieldPath: '.config.optimizer',
      },
      {
        rule: "!(has(self.embeddingServerRef) && has(self.config) && has(self.config.optimizer) && has(self.config.optimizer.embeddingProvider) && self.config.optimizer.embeddingProvider == 'openai')",
        message: "embeddingServerRef must not be set if config.optimizer.embeddingProvider is 'openai'",
        fieldPath: '.embeddingServerRef',
      },
      {
        rule: "!has(self.config.rateLimiting) || (has(self.sessionStorage) && self.sessionStorage.provider == 'redis')",
        message: "config.rateLimiting requires sessionStorage with provider 'redis'",
        fieldPath: '.config.rateLimiting',
      },
      {
        rule: "!(has(self.config.rateLimiting) && has(self.config.rateLimiting.perUser)) || self.incomingAuth.type == 'oidc'",
        message: 'config.rateLimiting.perUser requires incomingAuth.type oidc',
        fieldPath: '.config.rateLimiting.perUser',
      },
      {
        rule: "!has(self.config.rateLimiting) || !has(self.config.rateLimiting.tools) || self.config.rateLimiting.tools.all(t, !has(t.perUser)) || self.incomingAuth.type == 'oidc'",
        message: 'per-tool perUser rate limiting requires incomingAuth.type oidc',
        fieldPath: '.config.rateLimiting.tools',
      },
      {
        rule: "!has(self.authServerConfig) || self.incomingAuth.type == 'oidc'",
        message: "incomingAuth.type must be 'oidc' when authServerConfig is set",
        fieldPath: '.incomingAuth.type',
      },
      {
        rule: `!has(self.authServerConfig) || !has(self.incomingAuth.oidcConfig) || has(self.incomingAuth.oidcConfig.configMap) || self.authServerConfig.issuer == (${ISSUER})`,
        message: 'authServerConfig.issuer must be the issuer that incomingAuth.oidcConfig accepts',
        fieldPath: '.authServerConfig.issuer',
      },
    ],
  },
);

const DiscoveredBackend = object(
  {
    name: text('Name of the backend.'),
    url: optional(text('URL at which the virtual server calls the backend.')),
    status: optional(choice('Health of the backend.', ['ready', 'degraded', 'unavailable', 'unknown'])),
    authConfigRef: optional(text('Name of the MCPExternalAuthConfig for authentication to the backend.')),
    authType: optional(text('Type of authentication to the backend.')),
    lastHealthCheck: optional(time('Time of the last health check.')),
    message: optional(text('Reason, for people.')),
    circuitBreakerState: optional(
      choice('Whether calls to the backend are suspended.', ['closed', 'open', 'half-open']),
    ),
    circuitLastChanged: optional(time('Time of the last change of circuitBreakerState.')),
    consecutiveFailures: optional(integer('Number of failed checks in a row.', { minimum: 0 })),
  },
  'The last observed state of a backend.',
);

export const VirtualMCPServerStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the server that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: choice(
      'State of the server. Degraded: it runs, but some backends are not available.',
      ['Pending', 'Ready', 'Degraded', 'Failed'],
      { default: 'Pending' },
    ),
    message: optional(text('Reason, for people.')),
    url: optional(text('URL of the server for clients inside the cluster.')),
    discoveredBackends: optional(list(DiscoveredBackend, 'The backends, by name.', { keys: ['name'] })),
    backendCount: optional(integer('Number of ready backends.', { minimum: 0 })),
    oidcConfigHash: SETTINGS_HASHES.oidcConfigHash,
    authzConfigHash: SETTINGS_HASHES.authzConfigHash,
    telemetryConfigHash: SETTINGS_HASHES.telemetryConfigHash,
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the server.',
);
