// Defines every field of MCPRemoteProxy.

import { REMOTE_URL } from '#contracts/proxy-fields.ts';
import { addressed } from '#std/address/address.ts';
import { spellingOf, supersededBy } from '#std/schema/spellings.ts';
import { anyObject, bool, choice, integer, object, optional, port, text } from '#std/schema.ts';
import { AuthzConfig, AuthzConfigRef, ONE_AUTHZ_CONFIG } from '../auth/authz.ts';
import { HeaderForward } from '../auth/header-forward.ts';
import { OIDCConfig, OIDCConfigRef, ONE_OIDC_CONFIG } from '../auth/oidc.ts';
import { AuthServerRef } from '../auth/server/ref.ts';
import { ConditionsSchema } from '../conditions.ts';
import { resourcesField } from '../pods/container.ts';
import { ResourceOverrides } from '../proxy/overrides.ts';
import { SessionStorage } from '../proxy/session.ts';
import { ONE_TELEMETRY, TelemetryConfigRef } from '../proxy/shared-telemetry.ts';
import { AuditConfig, TelemetryConfig } from '../proxy/telemetry.ts';
import { groupRefField, namedRef, nameField } from '../selectors.ts';
import { SETTINGS_HASHES } from '../shared-settings.ts';

export const MCPRemoteProxySpec = object(
  {
    remoteURL: REMOTE_URL,
    port: port('Port of the proxy. No effect if proxyPort is set to another port than 8080.', {
      default: 8080,
      deprecated: { use: 'proxyPort' },
    }),
    proxyPort: port('Port of the proxy, and of its Service.', { default: 8080 }),
    transport: choice('Transport of the remote server and of clients.', ['sse', 'streamable-http'], {
      default: 'streamable-http',
    }),
    oidcConfig: optional({ ...OIDCConfig, description: 'Accepted tokens.' } as typeof OIDCConfig),
    oidcConfigRef: optional(OIDCConfigRef),
    authServerRef: optional(AuthServerRef),
    externalAuthConfigRef: optional(
      namedRef(
        'Authentication of the proxy to the remote server, such as by exchanging the accepted token.',
        'MCPExternalAuthConfig',
      ),
    ),
    headerForward: optional(HeaderForward),
    authzConfig: optional(AuthzConfig),
    authzConfigRef: optional(AuthzConfigRef),
    audit: optional(AuditConfig),
    toolConfigRef: optional(namedRef('Tools of the remote server that clients see, and their names.', 'MCPToolConfig')),
    telemetry: optional(TelemetryConfig),
    telemetryConfigRef: optional(TelemetryConfigRef),
    resources: optional(resourcesField('Resources of the container of the proxy.')),
    serviceAccount: optional(nameField('Service account of the proxy. Default: a new account without rights.')),
    replicas: optional(
      integer('Number of proxies. Unset: another controller decides, such as an autoscaler.', { minimum: 0 }),
    ),
    sessionStorage: optional(SessionStorage),
    podTemplateSpec: optional(
      anyObject('Changes to the pods of the proxy, as a pod template. The container is named toolhive.'),
    ),
    allowPrivateEndpoint: optional(
      bool(
        'False: private addresses and hosts that end in cluster.local are refused in remoteURL. True: they are accepted. With either value, addresses of the node, of metadata services and of the API server are refused. Unset: any address is accepted.',
      ),
    ),
    trustProxyHeaders: bool(
      'True: X-Forwarded-Proto, -Host, -Port and -Prefix are trusted when endpoint URLs are built.',
      false,
    ),
    endpointPrefix: optional(
      addressed(text('Path put before SSE endpoint URLs, for an ingress that strips it.'), 'path'),
    ),
    resourceOverrides: optional(ResourceOverrides),
    groupRef: optional(
      groupRefField('The MCPGroup that the proxy belongs to, in the same namespace. v1alpha1 writes its name alone.'),
    ),
    sessionAffinity: choice('Whether a client stays with one pod of the proxy.', ['ClientIP', 'None'], {
      default: 'ClientIP',
    }),
  },
  'The desired state of the proxy.',
  {
    neverEmpty: true,
    spellings: { remoteURL: 'remoteUrl' },
    validations: [
      {
        rule: 'has(self.oidcConfig) || has(self.oidcConfigRef)',
        message: 'oidcConfig is required (v1beta1 calls it oidcConfigRef)',
      },
      ONE_OIDC_CONFIG,
      ONE_TELEMETRY,
      ONE_AUTHZ_CONFIG,
    ],
  },
);

const EXTERNAL_URL = text(
  'URL for clients outside of the cluster: resourceUrl of oidcConfig or oidcConfigRef, if that is set.',
);

export const MCPRemoteProxyStatus = object(
  {
    observedGeneration: optional(
      integer('Generation of the proxy that this status is about.', { format: 'int64', minimum: 0 }),
    ),
    phase: optional(choice('State of the proxy.', ['Pending', 'Ready', 'Failed', 'Terminating'])),
    message: optional(text('Reason, for people.')),
    url: optional(text('URL of the proxy for clients inside the cluster.')),
    externalURL: supersededBy(EXTERNAL_URL, 'externalUrl'),
    externalUrl: spellingOf(EXTERNAL_URL, 'externalURL'),
    ...SETTINGS_HASHES,
    conditions: optional(ConditionsSchema),
  },
  'The last observed state of the proxy.',
);
