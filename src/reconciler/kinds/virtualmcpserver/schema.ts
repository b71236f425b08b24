// Defines every field of VirtualMCPServer, except the fields of its configuration model.

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
    type: choice('anonymous: anyone. oidc: whoever has a token that oidcConfig or oidcConfigRef accepts.', [
      'anonymous',
      'oidc',
    ]),
    oidcConfig: optional(OIDCConfig),
    oidcConfigRef: optional(OIDCConfigRef),
    authzConfig: optional(AuthzConfig),
    authzConfigRef: optional(AuthzConfigRef),
  },
  'How clients authenticate.',
  {
    validations: [
      {
        rule: "self.type != 'oidc' || has(self.oidcConfig) || has(self.oidcConfigRef)",
        message: 'spec.incomingAuth.oidcConfigRef is required when type is oidc (v1alpha1 calls it oidcConfig)',
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
        'discovered: as the backend itself says. external_auth_config_ref: as an MCPExternalAuthConfig says.',
        ['discovered', 'external_auth_config_ref'],
        { spellings: { external_auth_config_ref: 'externalAuthConfigRef' } },
      ),
      externalAuthConfigRef: optional(namedRef('For external_auth_config_ref.', 'MCPExternalAuthConfig')),
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
      'discovered: each backend is asked for its external auth. inline: only what is written here counts.',
      ['discovered', 'inline'],
      { default: 'discovered' },
    ),
    default: optional(backendAuth('For backends that nothing else is said about.')),
    backends: optional(
      map(backendAuth('For one backend.'), 'By name of the backend; wins over what it says itself.', {
        maxProperties: 1000,
      }),
    ),
  },
  'How backends are authenticated to. Default: as each backend itself says.',
);

const BACKENDS = 'has(self.config.backends) && self.config.backends.size() > 0';
const INLINE =
  "(has(self.outgoingAuth) ? self.outgoingAuth.source : has(self.config.outgoingAuth) ? self.config.outgoingAuth.source : 'discovered') == 'inline'";
const ISSUER =
  "has(self.incomingAuth.oidcConfig.inline) ? self.incomingAuth.oidcConfig.inline.issuer : has(self.incomingAuth.oidcConfig.kubernetes) ? self.incomingAuth.oidcConfig.kubernetes.issuer : 'https://kubernetes.default.svc'";

/** Names of v1beta1. They are not in the type of the spec, because a kind reads it by the names of the documents. */
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
    serviceType: choice(
      'Type of the Service that clients reach the server by.',
      ['ClusterIP', 'NodePort', 'LoadBalancer'],
      {
        default: 'ClusterIP',
      },
    ),
    sessionAffinity: choice('Whether a client stays with one pod.', ['ClientIP', 'None'], { default: 'ClientIP' }),
    serviceAccount: optional(nameField('Service account of the pods. Without it, one with the rights needed is made.')),
    imagePullSecrets: optional(PullSecrets),
    passthroughHeaders: optional(PassthroughHeaders),
    podTemplateSpec: optional(anyObject('Changes to the pods, as a pod template. The container is named vmcp.')),
    config: VirtualConfig,
    embeddingServerRef: optional(
      namedRef('Embedding server of the optimizer; turns the optimizer on.', 'EmbeddingServer'),
    ),
    authServerConfig: optional(EmbeddedAuthServer),
    telemetryConfigRef: optional(TelemetryConfigRef),
    replicas: optional(integer('How many pods. Unset: left to others, such as an autoscaler.', { minimum: 0 })),
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
        message: 'config.optimizer needs embeddingServerRef, or embeddingService in itself',
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
    url: optional(text('Where the virtual server reaches it.')),
    status: optional(choice('How well it is.', ['ready', 'degraded', 'unavailable', 'unknown'])),
    authConfigRef: optional(text('Name of the MCPExternalAuthConfig that it is authenticated to with.')),
    authType: optional(text('How it is authenticated to.')),
    lastHealthCheck: optional(time('When it was last checked.')),
    message: optional(text('Why, for people.')),
    circuitBreakerState: optional(choice('Whether it is left alone.', ['closed', 'open', 'half-open'])),
    circuitLastChanged: optional(time('When that last changed.')),
    consecutiveFailures: optional(integer('How many checks in a row have failed.', { minimum: 0 })),
  },
  'A backend, as it was last seen.',
);

export const VirtualMCPServerStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the server that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: choice(
      'How far the server is. Degraded: it runs, but some backends are not available.',
      ['Pending', 'Ready', 'Degraded', 'Failed'],
      { default: 'Pending' },
    ),
    message: optional(text('Why, for people.')),
    url: optional(text('Where clients inside the cluster reach the server.')),
    discoveredBackends: optional(list(DiscoveredBackend, 'The backends, by name.', { keys: ['name'] })),
    backendCount: optional(integer('How many backends are ready.', { minimum: 0 })),
    oidcConfigHash: SETTINGS_HASHES.oidcConfigHash,
    authzConfigHash: SETTINGS_HASHES.authzConfigHash,
    telemetryConfigHash: SETTINGS_HASHES.telemetryConfigHash,
    conditions: optional(ConditionsSchema),
  },
  'The server as it was last seen.',
);
