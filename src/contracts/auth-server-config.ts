// The configuration of an embedded authorization server, as a block of the files that proxies and virtual servers read. Key
// names follow the existing platform.
//
// The contract, beyond this file:
// - Secrets are never in it: it names files, or environment variables. Files change when their Secrets do.
// - The first signing key and the first HMAC secret are used, the others accepted. Without any, the server makes its own
//   at start.
// - `upstreams` are visited in their order. A proxy has one, a virtual server may have several.

import { addressed } from '#std/address/address.ts';
import { type Static, Type } from '#std/json-schema.ts';

/** Where the Secrets are mounted. */
export const AUTH_SERVER_DIRECTORY = '/etc/toolhive/authserver';

/** Files below that directory. */
export const AUTH_SERVER_FILES = {
  keys: 'keys',
  signingKey: (index: number) => `key-${index}.pem`,
  hmac: (index: number) => `hmac/hmac-${index}`,
  upstreamClientSecret: (provider: string) => `upstream/${provider}`,
  redisUsername: 'redis-user/username',
  redisPassword: 'redis-user/password',
  redisCA: 'redis-tls/ca.crt',
  sentinelCA: 'redis-tls/sentinel-ca.crt',
} as const;

/** What clients may ask for where no one chose: what a client gets that registers without naming scopes. */
export const AUTH_SERVER_SCOPES = ['openid', 'profile', 'email', 'offline_access'];

const CLOSED = { additionalProperties: false } as const;
const Text = (description: string) => Type.String({ minLength: 1, description });
const Url = (description: string) => addressed(Text(description), 'url');
const Texts = (description: string) => Type.Array(Text('One of them.'), { description });
const Duration = (description: string) => Type.String({ minLength: 2, description });

const UserInfo = Type.Object(
  {
    endpoint_url: Url('URL that answers with the user.'),
    http_method: Type.Enum(['GET', 'POST'], { description: 'How it is asked.' }),
    additional_headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Headers to send.' })),
    field_mapping: Type.Optional(
      Type.Object(
        {
          subject_fields: Type.Optional(Texts('Fields to look for the id in, in this order. Absent: sub.')),
          name_fields: Type.Optional(Texts('Fields to look for the name in, in this order. Absent: name.')),
          email_fields: Type.Optional(Texts('Fields to look for the address in, in this order. Absent: email.')),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

const CLIENT = {
  client_id: Text('Client id that the provider knows the server by.'),
  client_secret_file: Type.Optional(
    Text('File with the client secret; read again when it changes. Wins over the variable.'),
  ),
  client_secret_env_var: Type.Optional(Text('Variable with the client secret. Neither: a public client, with PKCE.')),
  redirect_uri: Url('URL that the provider sends users back to.'),
  scopes: Type.Optional(Texts('Scopes to ask for.')),
  additional_authorization_params: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Parameters to add to the URL that users are sent to. Those of the protocol cannot be set.',
    }),
  ),
};

const OIDCUpstream = Type.Object(
  {
    issuer_url: Url('Issuer; its endpoints are found by discovery.'),
    ...CLIENT,
    subject_claim: Type.Optional(Text('Claim of the id_token that is the id of the user. Absent: sub.')),
    userinfo_override: Type.Optional(UserInfo),
  },
  CLOSED,
);

const OAuth2Upstream = Type.Object(
  {
    authorization_endpoint: Url('URL that users are sent to.'),
    token_endpoint: Url('URL that codes are turned into tokens at.'),
    ...CLIENT,
    userinfo: Type.Optional(UserInfo),
    identity_from_token: Type.Optional(
      Type.Object(
        {
          subject_path: Text('Path of the id of the user.'),
          name_path: Type.Optional(Text('Path of the name.')),
          email_path: Type.Optional(Text('Path of the address.')),
        },
        {
          ...CLOSED,
          description:
            'Where the token response has the user; wins over userinfo, and one of them is there. Dots lead inwards, |@upstreamjwt reads the claims of a JWT.',
        },
      ),
    ),
    token_response_mapping: Type.Optional(
      Type.Object(
        {
          access_token_path: Text('Path of the access token.'),
          scope_path: Text('Path of the scopes.'),
          refresh_token_path: Text('Path of the refresh token.'),
          expires_in_path: Text('Path of the lifetime, in seconds.'),
        },
        { ...CLOSED, description: 'Where a token response that RFC 6749 does not know has what; dots lead inwards.' },
      ),
    ),
  },
  CLOSED,
);

const TLS = Type.Object(
  {
    insecure_skip_verify: Type.Boolean({ description: 'Certificates are not checked.' }),
    ca_cert_file: Type.Optional(Text('PEM file to trust. Absent: those of the image.')),
  },
  { ...CLOSED, description: 'Absent: the connection is plain.' },
);

const Redis = Type.Object(
  {
    addr: Type.Optional(addressed(Text('host:port of the server, or of a node of a cluster.'), 'hostPort')),
    cluster_mode: Type.Optional(Type.Boolean({ description: 'True: addr is a node of a Redis Cluster.' })),
    sentinel_config: Type.Optional(
      Type.Object(
        {
          master_name: Text('Name by which the Sentinels know the master.'),
          sentinel_addrs: Type.Array(addressed(Text('One of them.'), 'hostPort'), {
            description: 'host:port of Sentinels.',
          }),
          db: Type.Integer({ minimum: 0, description: 'Number of the database.' }),
        },
        { ...CLOSED, description: 'The Sentinels that know the server. Either they or addr is there.' },
      ),
    ),
    auth_type: Type.Literal('aclUser'),
    acl_user_config: Type.Object(
      {
        username_file: Type.Optional(Text('File with the name of the user; wins over the variable.')),
        username_env_var: Type.Optional(Text('Variable with the name of the user. Neither: the default user.')),
        password_file: Type.Optional(
          Text('File with the password of the user, read for each connection; wins over the variable.'),
        ),
        password_env_var: Type.Optional(Text('Variable with the password of the user.')),
      },
      CLOSED,
    ),
    key_prefix: Text('What every key starts with; the braces keep the keys in one slot of a Redis cluster.'),
    dial_timeout: Duration('How long connecting may take.'),
    read_timeout: Duration('How long an answer may take.'),
    write_timeout: Duration('How long sending may take.'),
    tls: Type.Optional(TLS),
    sentinel_tls: Type.Optional(TLS),
  },
  CLOSED,
);

export const AUTH_SERVER_SCHEMA = Type.Object(
  {
    schema_version: Type.Literal('v0.1.0'),
    issuer: Url('Issuer of the tokens.'),
    signing_key_config: Type.Optional(
      Type.Object(
        {
          key_dir: Text('Directory of the keys.'),
          signing_key_file: Text('File in it whose key signs.'),
          fallback_key_files: Type.Optional(Texts('Files in it whose keys are still accepted, and published.')),
        },
        { ...CLOSED, description: 'Absent: a key is made at start.' },
      ),
    ),
    hmac_secret_files: Type.Optional(Texts('Files with HMAC secrets. Absent: one is made at start.')),
    token_lifespans: Type.Object(
      {
        access_token_lifespan: Duration('How long access tokens are accepted.'),
        refresh_token_lifespan: Duration('How long refresh tokens are accepted.'),
        auth_code_lifespan: Duration('How long authorization codes are accepted.'),
      },
      CLOSED,
    ),
    upstreams: Type.Array(
      Type.Object(
        {
          name: Text('Name of the provider.'),
          type: Type.Enum(['oidc', 'oauth2'], { description: 'Which of the two blocks is there.' }),
          ca_bundle_path: Type.Optional(
            Text('PEM file to trust for requests to the provider, in place of the roots of the image.'),
          ),
          oidc_config: Type.Optional(OIDCUpstream),
          oauth2_config: Type.Optional(OAuth2Upstream),
        },
        CLOSED,
      ),
      { minItems: 1, description: 'Who users log in with.' },
    ),
    disable_upstream_token_injection: Type.Optional(
      Type.Boolean({
        description: 'True: what is behind a proxy gets no token, not even that of the upstream provider.',
      }),
    ),
    cimd: Type.Optional(
      Type.Object(
        {
          enabled: Type.Boolean({ description: 'False: an id that is a URL is not a known client.' }),
          cache_max_size: Type.Optional(
            Type.Integer({ minimum: 1, description: 'Documents that are kept. Absent: 1000.' }),
          ),
          cache_fallback_ttl: Type.Optional(
            Duration('How long a document is kept that does not say it, between 1m and 168h. Absent: 1h.'),
          ),
        },
        { ...CLOSED, description: 'Clients that a document at a URL describes. Absent: they are known.' },
      ),
    ),
    scopes_supported: Texts('Scopes that clients may ask for.'),
    baseline_client_scopes: Type.Optional(
      Texts(
        'Scopes that each client may ask for in addition to the scopes that it registered; other scopes are not given to it. Absent: a client may have each scope of the server.',
      ),
    ),
    allow_confidential_client_registration: Type.Optional(
      Type.Boolean({
        description: 'True: a client may register for a secret. Absent: clients that register are public.',
      }),
    ),
    force_confidential_redirect_uris: Type.Optional(
      Texts('Redirect URIs of clients that get a secret, even if they register without one.'),
    ),
    insecure_allow_confidential_over_loopback_http: Type.Optional(
      Type.Boolean({ description: 'True: secrets are given out by an issuer with http on loopback, too.' }),
    ),
    allowed_audiences: Texts('Values that clients may give as resource (RFC 8707).'),
    storage: Type.Object(
      {
        type: Type.Enum(['memory', 'redis'], { description: 'Where logins are kept.' }),
        redis_config: Type.Optional(Redis),
      },
      CLOSED,
    ),
  },
  { ...CLOSED, description: 'Absent: there is no authorization server.' },
);

export type AuthServerConfig = Static<typeof AUTH_SERVER_SCHEMA>;

/** RFC 6749 section 4.1.1, RFC 7636, OpenID Connect Core 1.0 sections 3.1.2.1 and 6: each is the answer to one visit, or replaces all others. */
const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  ...['response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]);

/** Whether additional_authorization_params cannot set it. Some providers read names without regard to case. */
export function isReservedParameter(name: string): boolean {
  return RESERVED_PARAMETERS.has(name.toLowerCase());
}
