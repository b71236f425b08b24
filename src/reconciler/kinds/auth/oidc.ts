// Defines the fields for the tokens that a server accepts.

import { addressed } from '#std/address/address.ts';
import type { RuleMark } from '#std/schema/marks.ts';
import { bool, choice, list, object, optional, text } from '#std/schema.ts';
import { nameField, refName, secretKeyRef } from '../selectors.ts';
import { caBundleRef } from './ca-bundle.ts';

/** Default issuer in ToolHive's documents: the API server's address inside each cluster. */
export const CLUSTER_ISSUER = 'https://kubernetes.default.svc';

const CLUSTER_ACCOUNTS = {
  serviceAccount: optional(
    text('Service account of the callers: only its tokens are accepted. Default: tokens of every account.'),
  ),
  namespace: optional(
    text(
      'Namespace of the service account. Without serviceAccount, tokens of every account of the namespace are accepted. Default: if serviceAccount is set, the namespace of the resource.',
    ),
  ),
};

const CLUSTER_PROVIDER = {
  issuer: text(
    'Issuer of the cluster. With the default, the issuer that the API server itself names in its discovery document is accepted as well.',
    { default: CLUSTER_ISSUER },
  ),
  jwksUrl: optional(text('URL of the signing keys. If empty, discovery finds it.')),
  introspectionUrl: optional(text('URL that checks opaque tokens. If empty, discovery finds it.')),
  useClusterAuth: bool("True: keys are read with the cluster's CA and the pod's service account token.", true),
};

const KubernetesOIDC = object(
  {
    ...CLUSTER_ACCOUNTS,
    audience: text('Audience that tokens must have.', { default: 'toolhive' }),
    ...CLUSTER_PROVIDER,
  },
  'Tokens of Kubernetes service accounts.',
);

const CA_BUNDLE = caBundleRef('requests to the issuer, and for a token exchange at the same host and port');

const ConfigMapOIDC = object(
  {
    name: nameField('Name of the ConfigMap.'),
    key: text('Key with the settings as JSON. Without it, the entries of the ConfigMap are the settings.', {
      default: 'oidc.json',
      minLength: 1,
    }),
    caBundleRef: optional(CA_BUNDLE),
  },
  'Settings in a ConfigMap.',
);

const ISSUER = {
  issuer: text('Issuer of the tokens, exactly as their iss claim has it.', { minLength: 1 }),
};

const PROVIDER = {
  jwksUrl: optional(text('URL of the signing keys. If empty, discovery finds it.')),
  introspectionUrl: optional(text('URL that checks opaque tokens. If empty, discovery finds it.')),
  clientId: optional(text('Client id for introspection.')),
};

const PROVIDER_ACCESS = {
  caBundleRef: optional(CA_BUNDLE),
  jwksAuthTokenPath: optional(text('File with a bearer token for requests to the issuer.')),
  jwksAllowPrivateIP: bool('True: the keys may be at a private address.', false),
  protectedResourceAllowPrivateIP: bool('True: the protected resource may be at a private address.', false),
  insecureAllowHTTP: bool('True: plain HTTP is accepted. Never in production.', false),
};

const SCOPES = list(text('A scope.'), 'Scopes to advertise to clients (RFC 9728). Default: openid.');

const RESOURCE_URL = addressed(
  text('URL by which clients know this server (RFC 9728). Default: the URL of its Service inside the cluster.'),
  'resource',
);

const InlineOIDC = object(
  {
    ...ISSUER,
    audience: optional(text('Audience that tokens must have.')),
    ...PROVIDER,
    clientSecret: optional(text('Client secret in plain text.', { deprecated: { use: 'clientSecretRef' } })),
    clientSecretRef: optional(secretKeyRef('Client secret. Takes precedence over clientSecret.')),
    svcCABundlePath: optional(
      text('Path of a CA file that is in the proxy container already. Takes precedence over caBundleRef.', {
        deprecated: { use: 'caBundleRef' },
      }),
    ),
    ...PROVIDER_ACCESS,
    scopes: optional(SCOPES),
  },
  'Settings in this resource.',
  { aliases: { thvCABundlePath: 'svcCABundlePath' } },
);

/** Named OIDCConfigRef in ToolHive's documents. */
export const OIDCConfig = object(
  {
    type: choice('Place of the settings.', ['kubernetes', 'configMap', 'inline'], { default: 'kubernetes' }),
    resourceUrl: optional(RESOURCE_URL),
    kubernetes: optional(KubernetesOIDC),
    configMap: optional(ConfigMapOIDC),
    inline: optional(InlineOIDC),
  },
  'Accepted tokens. Without it, anyone who reaches the server may use it.',
  {
    validations: [
      {
        rule: "self.type == 'kubernetes' || !has(self.kubernetes)",
        message: "kubernetes must not be set when type is not 'kubernetes'",
      },
      {
        rule: "(self.type == 'configMap') == has(self.configMap)",
        message: "configMap must be set when type is 'configMap', and must not be set otherwise",
      },
      {
        rule: "(self.type == 'inline') == has(self.inline)",
        message: "inline must be set when type is 'inline', and must not be set otherwise",
      },
    ],
  },
);

/**
 * Defines the spec of MCPOIDCConfig, which contains the issuer. Each reference to an MCPOIDCConfig sets its own
 * audience.
 */
export const SharedOIDC = object(
  {
    type: choice('kubernetesServiceAccount: tokens of the cluster. inline: tokens of another issuer.', [
      'kubernetesServiceAccount',
      'inline',
    ]),
    kubernetesServiceAccount: optional(
      object({ ...CLUSTER_ACCOUNTS, ...CLUSTER_PROVIDER }, 'Tokens of Kubernetes service accounts.'),
    ),
    inline: optional(
      object(
        { ...ISSUER, ...PROVIDER, clientSecretRef: optional(secretKeyRef('Client secret.')), ...PROVIDER_ACCESS },
        'Tokens of an issuer outside the cluster.',
      ),
    ),
  },
  'Tokens that the resources with a reference to these settings accept.',
  {
    validations: [
      {
        rule: "(self.type == 'kubernetesServiceAccount') == has(self.kubernetesServiceAccount)",
        message:
          "kubernetesServiceAccount must be set when type is 'kubernetesServiceAccount', and must not be set otherwise",
      },
      {
        rule: "(self.type == 'inline') == has(self.inline)",
        message: "inline must be set when type is 'inline', and must not be set otherwise",
      },
    ],
  },
);

/** Defines the reference to an MCPOIDCConfig, with the settings that belong to the referring resource. */
export const OIDCConfigRef = object(
  {
    name: refName('MCPOIDCConfig'),
    audience: text('Audience that tokens must have. Each server should have its own.', { minLength: 1 }),
    scopes: optional(SCOPES),
    resourceUrl: optional(RESOURCE_URL),
  },
  'Accepted tokens, from an MCPOIDCConfig.',
);

/** Only one of the two fields may be set. */
export const ONE_OIDC_CONFIG: RuleMark = {
  rule: '!has(self.oidcConfig) || !has(self.oidcConfigRef)',
  message: 'oidcConfig and oidcConfigRef are mutually exclusive: set oidcConfigRef only',
};
