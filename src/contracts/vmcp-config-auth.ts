// The parts of a virtual MCP server's configuration that are about authentication: of clients, and to backends. Knows
// nothing about clusters. Key names follow the auth types of the configuration model, which has fewer of them.

import { type Static, Type } from '../std/json-schema.ts';

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Texts = (description: string) => Type.Array(Text('One of them.'), { description });
const Env = (description: string) => Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description });

const OIDC = Type.Object(
  {
    issuer: Text('Issuer of accepted tokens.'),
    audience: Type.Optional(Text('Audience of accepted tokens.')),
    resource: Text('`resource` of the protected-resource metadata (RFC 9728).'),
    scopes: Texts('`scopes_supported` of the protected-resource metadata.'),
    jwksUrl: Type.Optional(Text('Where the signing keys are; discovery otherwise.')),
    introspectionUrl: Type.Optional(Text('Where opaque tokens are checked (RFC 7662).')),
    clientId: Type.Optional(Text('Client id for introspection.')),
    clientSecretEnv: Type.Optional(Env('Variable with the client secret.')),
    caBundlePath: Type.Optional(Text('PEM file to trust for requests to the issuer.')),
    authTokenFile: Type.Optional(Text('File with a bearer token for requests to the issuer; read when it changes.')),
    jwksAllowPrivateIp: Type.Boolean({ description: 'The issuer may be at a private address.' }),
    protectedResourceAllowPrivateIp: Type.Boolean({ description: 'The resource may be at a private address.' }),
    insecureAllowHttp: Type.Boolean({ description: 'Plain HTTP to the issuer is accepted.' }),
  },
  { ...CLOSED, description: 'For oidc.' },
);

const Authz = Type.Object(
  {
    type: Type.Enum(['cedar', 'none'], { description: 'none: every accepted caller may do everything.' }),
    policies: Type.Optional(
      Type.Array(Text('A text with Cedar policies.'), { minItems: 1, description: 'For cedar.' }),
    ),
    entitiesJson: Type.Optional(Text('Cedar entities, as a JSON list.')),
  },
  CLOSED,
);

export const INCOMING_AUTH = Type.Object(
  {
    type: Type.Enum(['oidc', 'local', 'anonymous'], { description: 'How clients authenticate.' }),
    oidc: Type.Optional(OIDC),
    authz: Authz,
  },
  CLOSED,
);

const TokenExchange = Type.Object(
  {
    tokenUrl: Text('Token endpoint that exchanges tokens (RFC 8693).'),
    clientId: Type.Optional(Text('Client id of the server.')),
    clientSecret: Type.Optional(Text('Client secret, where its author wrote it down.')),
    clientSecretEnv: Type.Optional(Env('Variable with the client secret.')),
    audience: Type.Optional(Text('Audience of the token to get.')),
    scopes: Type.Optional(Texts('Scopes of the token to get.')),
    subjectTokenType: Type.Enum(
      [
        'urn:ietf:params:oauth:token-type:access_token',
        'urn:ietf:params:oauth:token-type:id_token',
        'urn:ietf:params:oauth:token-type:jwt',
      ],
      { description: "What the caller's token is." },
    ),
    externalTokenHeaderName: Type.Optional(Text('Header that carries the new token; Authorization otherwise.')),
  },
  CLOSED,
);

const RoleMapping = Type.Object(
  {
    claim: Type.Optional(Text('Value that the role claim contains.')),
    matcher: Type.Optional(Text('CEL over claims.')),
    roleArn: Text('The role.'),
    priority: Type.Optional(Type.Integer({ minimum: 0, description: 'Lower is tried first; absent, last.' })),
  },
  CLOSED,
);

const CloudSts = Type.Object(
  {
    region: Text('Region of the token service, and of the signatures.'),
    service: Text('Service that requests are signed for.'),
    fallbackRoleArn: Type.Optional(Text('Role of callers that no mapping fits. Absent: they are refused.')),
    roleMappings: Type.Optional(Type.Array(RoleMapping, { description: 'The first that fits counts.' })),
    roleClaim: Text("Claim with the caller's groups or roles."),
    sessionDuration: Type.Integer({ minimum: 900, maximum: 43_200, description: 'Seconds that credentials last.' }),
    sessionNameClaim: Text('Claim that names the session.'),
  },
  CLOSED,
);

const STRATEGY = Type.Object(
  {
    type: Type.Enum(
      ['unauthenticated', 'header_injection', 'token_exchange', 'upstream_inject', 'bearer_token', 'cloud_sts'],
      { description: 'Which of the blocks is there.' },
    ),
    headerInjection: Type.Optional(
      Type.Object(
        {
          headerName: Text('Name of the header.'),
          headerValue: Type.Optional(Text('Its value, where its author wrote it down.')),
          headerValueEnv: Type.Optional(Env('Variable with its value.')),
        },
        CLOSED,
      ),
    ),
    tokenExchange: Type.Optional(TokenExchange),
    upstreamInject: Type.Optional(
      Type.Object({ providerName: Text('Upstream provider that issued the token.') }, CLOSED),
    ),
    bearerToken: Type.Optional(
      Type.Object({ tokenEnv: Env('Variable with the token that goes into Authorization.') }, CLOSED),
    ),
    cloudSts: Type.Optional(CloudSts),
  },
  CLOSED,
);

export const OUTGOING_AUTH = Type.Object(
  {
    source: Type.Enum(['inline', 'discovered'], { description: 'Where the strategies were found, for people.' }),
    backends: Type.Record(Type.String(), STRATEGY, { description: 'By name; one for every backend.' }),
  },
  CLOSED,
);

export type Strategy = Static<typeof STRATEGY>;
