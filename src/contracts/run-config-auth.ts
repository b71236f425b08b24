// Defines the blocks of a proxy's configuration about authentication to the server behind the proxy. Key names follow
// ToolHive's run configuration if ToolHive has the key.
//
// The contract, beyond this file:
// - At most one block is set, apart from the authorization server. Without a block, the proxy forwards requests with
//   the caller's credentials.
// - The configuration contains no secrets. A block names files or environment variables with its secrets.
// - If a proxy cannot authenticate (the caller is unknown, or the exchange is refused), it responds with 401. It never
//   forwards such a request unchanged.
// - With an embedded authorization server, the proxy accepts the tokens of this server, and replaces them by the user's
//   tokens of the upstream provider. A block that needs the caller's token uses the provider's token.

import { addressed } from '#std/address/address.ts';
import { type Static, type TObject, Type } from '#std/json-schema.ts';
import { AUTH_SERVER_SCHEMA } from './auth-server/config.ts';

/** Environment variables with secrets. */
export const OUTGOING_ENV = {
  tokenExchangeClientSecret: 'TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET',
  headerValue: 'TOOLHIVE_HEADER_INJECTION_VALUE',
  bearerToken: 'TOOLHIVE_BEARER_TOKEN',
} as const;

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });

const TokenExchange = Type.Object(
  {
    token_url: addressed(Text('Token endpoint that exchanges tokens (RFC 8693).'), 'url'),
    ca_bundle_path: Type.Optional(
      Text(
        'PEM file to trust for requests to the endpoint, in place of the roots of the image. Absent: the file of oidc_config, if its issuer has the same origin.',
      ),
    ),
    client_id: Type.Optional(Text('Client id of the proxy.')),
    client_secret_env_var: Type.Optional(Text('Variable with the client secret.')),
    client_secret_file: Type.Optional(
      Text('File with the client secret; read again when it changes. Wins over the variable.'),
    ),
    audience: Text('Audience of the new token.'),
    scopes: Type.Optional(Type.Array(Text('A scope.'), { description: 'Scopes of the new token.' })),
    subject_token_type: Type.Enum(
      [
        'urn:ietf:params:oauth:token-type:access_token',
        'urn:ietf:params:oauth:token-type:id_token',
        'urn:ietf:params:oauth:token-type:jwt',
      ],
      { description: "Type of the caller's token." },
    ),
    header_strategy: Type.Enum(['replace', 'custom'], { description: 'replace: the new token is in Authorization.' }),
    external_token_header_name: Type.Optional(
      Text('For custom: the header that carries the new token. Authorization is removed.'),
    ),
  },
  CLOSED,
);

const HeaderInjection = Type.Object(
  {
    header_name: Text('Name of the header.'),
    value_env_var: Type.Optional(Text('Variable with its value.')),
    value_file: Type.Optional(Text('File with its value; read again when it changes. Wins over the variable.')),
  },
  { ...CLOSED, description: 'A header of every request. It replaces a header of that name from the caller.' },
);

const BearerToken = Type.Object(
  {
    token_env_var: Type.Optional(Text('Variable with the token.')),
    token_file: Type.Optional(Text('File with the token; read again when it changes. Wins over the variable.')),
  },
  { ...CLOSED, description: 'The token in Authorization of every request, in place of the one that the caller sent.' },
);

const CloudSts = Type.Object(
  {
    region: Text('Region of the token service, and of the signatures.'),
    service: Text('Service that requests are signed for.'),
    fallback_role_arn: Type.Optional(Text('Role of callers that no mapping matches. Absent: they are refused.')),
    role_mappings: Type.Optional(
      Type.Array(
        Type.Object(
          {
            claim: Type.Optional(Text('Value that the role claim contains.')),
            matcher: Type.Optional(Text('CEL over claims; see role-matcher.ts.')),
            role_arn: Text('The role.'),
            priority: Type.Optional(Type.Integer({ minimum: 0, description: 'Lower is tried first; absent, last.' })),
          },
          CLOSED,
        ),
        { description: 'The first one that matches counts. Equal priorities keep this order.' },
      ),
    ),
    role_claim: Text("Claim with the caller's groups or roles."),
    session_duration: Type.Integer({ minimum: 900, maximum: 43_200, description: 'Seconds that credentials last.' }),
    session_name_claim: Text('Claim that names the session.'),
  },
  CLOSED,
);

const Xaa = Type.Object(
  {
    idp_token_url: addressed(Text('Token endpoint of the identity provider (RFC 8693).'), 'url'),
    idp_client_id: Type.Optional(Text('Client id there.')),
    idp_client_secret_env_var: Type.Optional(Text('Variable with the client secret there.')),
    idp_client_secret_file: Type.Optional(
      Text('File with that secret; read again when it changes. Wins over the variable.'),
    ),
    target_token_url: addressed(Text('Token endpoint of the authorization server of the server (RFC 7523).'), 'url'),
    insecure_target_token_url: Type.Optional(
      Type.Boolean({ description: 'True: target_token_url may be http on another host than loopback.' }),
    ),
    target_client_id: Type.Optional(Text('Client id there.')),
    target_client_secret_env_var: Type.Optional(Text('Variable with the client secret there.')),
    target_client_secret_file: Type.Optional(
      Text('File with that secret; read again when it changes. Wins over the variable.'),
    ),
    target_audience: Text('The aud of the assertion.'),
    target_resource: Type.Optional(addressed(Text('The resource of the assertion, which it must name then.'), 'url')),
    scopes: Type.Optional(Type.Array(Text('A scope.'), { description: 'Scopes of the assertion and of the token.' })),
  },
  {
    ...CLOSED,
    description:
      'The id_token of the login becomes a token of the server, by an assertion of the identity provider (ID-JAG).',
  },
);

/** Keys of these blocks in the proxy's configuration. */
export const OUTGOING_AUTH = {
  remove_caller_token: Type.Optional(
    Type.Boolean({
      description: 'The server does not get the Authorization of the caller. Absent: it does.',
    }),
  ),
  token_exchange_config: Type.Optional(TokenExchange),
  header_injection_config: Type.Optional(HeaderInjection),
  bearer_token_config: Type.Optional(BearerToken),
  aws_sts_config: Type.Optional(CloudSts),
  xaa_config: Type.Optional(Xaa),
  embedded_auth_server_config: Type.Optional(AUTH_SERVER_SCHEMA),
};

export type OutgoingAuthBlocks = Static<TObject<typeof OUTGOING_AUTH>>;
