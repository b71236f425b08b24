// Defines authentication in a virtual MCP server's configuration, of clients and to backends. The fields are the fields
// of the configuration model (virtual/auth.ts) and the additional fields of MCPExternalAuthConfigs.

import { addressed } from '#std/address/address.ts';
import { bool, choice, list, map, object, optional, type Static, text } from '#std/schema.ts';
import { fileForm, withFields } from './file-form.ts';
import {
  ENV_NAME,
  HeaderInjection,
  iff,
  ModelAuthz,
  ModelIncomingAuth,
  ModelOIDC,
  protectedUrl,
  TokenExchange,
  UpstreamInject,
  Xaa,
} from './virtual/auth.ts';
import { CloudSts } from './virtual/cloud-sts.ts';

const filledText = (description: string) => text(description, { minLength: 1 });

const OIDC = withFields(
  ModelOIDC,
  {
    issuerIsApiServer: optional(
      bool(
        'The issuer is the API server of the cluster: the issuer that its discovery document names is accepted as well, and its own keys verify.',
      ),
    ),
    serviceAccount: optional(
      object(
        {
          namespace: filledText('Namespace of the account.'),
          name: optional(
            filledText('Name of the account. If it is absent, every account of the namespace is accepted.'),
          ),
        },
        'If set, only tokens of this service account of a cluster are accepted.',
      ),
    ),
    resource: addressed(filledText('`resource` of the protected-resource metadata (RFC 9728).'), 'resource'),
    scopes: list(filledText('A scope.'), '`scopes_supported` of the protected-resource metadata.'),
    jwksUrl: optional(addressed(filledText('URL of the signing keys. Absent: discovery finds it.'), 'url')),
    introspectionUrl: optional(addressed(filledText('URL at which opaque tokens are checked (RFC 7662).'), 'url')),
    caBundlePath: optional(filledText('PEM file to trust for requests to the issuer.')),
    authTokenFile: optional(filledText('File with a bearer token for requests to the issuer; read when it changes.')),
  },
  [protectedUrl('jwksUrl'), protectedUrl('introspectionUrl')],
);

const Authz = withFields(ModelAuthz, {
  entitiesJson: optional(filledText('Cedar entities, as a JSON list.')),
  primaryUpstreamProvider: optional(
    filledText(
      'Name of the provider of the authorization server whose token has the claims of a caller. If it is absent, the token of the caller has them, unless authServer names a provider.',
    ),
  ),
});

export const IncomingAuth = withFields(ModelIncomingAuth, { oidc: optional(OIDC), authz: Authz });

const BearerToken = object(
  { tokenEnv: text('Variable with the token for Authorization.', ENV_NAME) },
  'For bearer_token: a token that is sent with every request.',
);

/** Token types of RFC 8693, section 3. */
const TOKEN_TYPES = [
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:id_token',
  'urn:ietf:params:oauth:token-type:jwt',
] as const;

const STRATEGY = object(
  {
    type: choice('Which of the blocks is used.', [
      'unauthenticated',
      'header_injection',
      'token_exchange',
      'upstream_inject',
      'bearer_token',
      'cloud_sts',
      'xaa',
    ]),
    headerInjection: optional(HeaderInjection),
    tokenExchange: optional(
      withFields(TokenExchange, {
        subjectTokenType: choice("Type of the caller's token.", TOKEN_TYPES, { default: TOKEN_TYPES[0] }),
        caBundlePath: optional(
          filledText(
            'PEM file to trust for requests to the endpoint. If it is absent, the file of incomingAuth.oidc counts, if its issuer has the same origin.',
          ),
        ),
        externalTokenHeaderName: optional(
          filledText(
            'Header that carries the new token, as `Bearer <token>`; Authorization is removed then. If it is absent, the token is in Authorization.',
          ),
        ),
      }),
    ),
    upstreamInject: optional(UpstreamInject),
    bearerToken: optional(BearerToken),
    xaa: optional(withFields(Xaa, {})),
    // Required here, without the manifests' default `cloud-mcp`: the reconciler writes the real name of the service.
    cloudSts: optional(withFields(CloudSts, { service: filledText('Service that requests are signed for.') })),
  },
  'How the server authenticates to one backend.',
  {
    validations: [
      iff('headerInjection', 'header_injection'),
      iff('tokenExchange', 'token_exchange'),
      iff('upstreamInject', 'upstream_inject'),
      iff('bearerToken', 'bearer_token'),
      iff('cloudSts', 'cloud_sts'),
      iff('xaa', 'xaa'),
    ],
  },
);

export const OutgoingAuth = object(
  {
    source: choice('Origin of the strategies, for people.', ['inline', 'discovered'], { default: 'inline' }),
    backends: map(STRATEGY, 'Strategies by name, one for every backend.'),
  },
  'How the server authenticates to its backends.',
);

export const INCOMING_AUTH = fileForm(IncomingAuth);
export const OUTGOING_AUTH = fileForm(OutgoingAuth);

export type Strategy = Static<typeof STRATEGY>;
