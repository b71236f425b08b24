// Defines the configuration of an embedded authorization server, which is a block in the configurations of proxies and
// virtual servers. Key names follow ToolHive.
//
// The contract, beyond this file:
// - The configuration contains no secrets. It names files or environment variables. The files change when their Secrets
//   change.
// - The first signing key and the first HMAC secret sign. Signatures of the other keys and secrets are also accepted.
//   Without keys and secrets, the server creates random ones at its start.
// - A login visits the `upstreams` in their order. A proxy has one upstream, and a virtual server may have several.

import { type Static, Type } from '#std/json-schema.ts';
import { CLOSED, Duration, Text, Texts, Url } from './fields.ts';
import { Redis } from './storage.ts';
import { DelegateClients, TrustedIssuers } from './trust.ts';
import { OAuth2Upstream, OIDCUpstream } from './upstream.ts';

/** Folder into which Secrets are mounted. */
export const AUTH_SERVER_DIRECTORY = '/etc/toolhive/authserver';

/** Names of files in AUTH_SERVER_DIRECTORY. */
export const AUTH_SERVER_FILES = {
  keys: 'keys',
  signingKey: (index: number) => `key-${index}.pem`,
  hmac: (index: number) => `hmac/hmac-${index}`,
  upstreamClientSecret: (provider: string) => `upstream/${provider}`,
  delegateSecret: (index: number) => `delegates/client-${index}`,
  initialAccessToken: (provider: string) => `registration/${provider}`,
  redisUsername: 'redis-user/username',
  redisPassword: 'redis-user/password',
  redisCA: 'redis-tls/ca.crt',
  sentinelCA: 'redis-tls/sentinel-ca.crt',
} as const;

/**
 * Default scopes: scopes that the server issues if its settings name none, and scopes of a client that registers
 * without scopes.
 */
export const AUTH_SERVER_SCOPES = ['openid', 'profile', 'email', 'offline_access'];

export const AUTH_SERVER_SCHEMA = Type.Object(
  {
    schema_version: Type.Literal('v0.1.0'),
    issuer: Url('Issuer of the tokens.'),
    insecure_allow_http: Type.Optional(
      Type.Boolean({ description: 'True: the issuer may be http on another host than loopback.' }),
    ),
    authorization_endpoint_base_url: Type.Optional(
      Url(
        'URL in front of /oauth/authorize and of the pages that people see. Absent: the issuer. Other endpoints stay below the issuer.',
      ),
    ),
    signing_key_config: Type.Optional(
      Type.Object(
        {
          key_dir: Text('Directory of the keys.'),
          signing_key_file: Text('File in it whose key signs.'),
          fallback_key_files: Type.Optional(Texts('Files in it whose keys are still accepted, and published.')),
        },
        { ...CLOSED, description: 'Absent: a key is created at start.' },
      ),
    ),
    hmac_secret_files: Type.Optional(Texts('Files with HMAC secrets. Absent: a secret is created at start.')),
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
          type: Type.Enum(['oidc', 'oauth2'], { description: 'Which of the two blocks is used.' }),
          ca_bundle_path: Type.Optional(
            Text('PEM file to trust for requests to the provider, in place of the roots of the image.'),
          ),
          oidc_config: Type.Optional(OIDCUpstream),
          oauth2_config: Type.Optional(OAuth2Upstream),
        },
        CLOSED,
      ),
      { minItems: 1, description: 'Providers that users log in with.' },
    ),
    primary_upstream_provider: Type.Optional(
      Text('Name of the provider whose token has the claims that policies read. Absent: the token of this server.'),
    ),
    disable_upstream_token_injection: Type.Optional(
      Type.Boolean({
        description: 'True: the server behind a proxy gets no token, not even the token of the upstream provider.',
      }),
    ),
    cimd: Type.Optional(
      Type.Object(
        {
          enabled: Type.Boolean({ description: 'False: an id that is a URL is not a known client.' }),
          cache_max_size: Type.Optional(
            Type.Integer({ minimum: 1, description: 'Number of documents that are cached. Absent: 1000.' }),
          ),
          cache_fallback_ttl: Type.Optional(
            Duration('How long a document without its own lifetime is cached, between 1m and 168h. Absent: 1h.'),
          ),
        },
        { ...CLOSED, description: 'Clients that a document at a URL describes. Absent: such clients are known.' },
      ),
    ),
    scopes_supported: Texts('Scopes that clients may request.'),
    baseline_client_scopes: Type.Optional(
      Texts(
        'Scopes that each client may request in addition to those that it registered. It gets no others. Absent: a client may have each scope of the server.',
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
      Type.Boolean({ description: 'True: an issuer with http on loopback may also issue secrets.' }),
    ),
    allowed_audiences: Texts('Values that clients may send as resource (RFC 8707).'),
    trusted_issuers: Type.Optional(TrustedIssuers),
    delegate_clients: Type.Optional(DelegateClients),
    storage: Type.Object(
      {
        type: Type.Enum(['memory', 'redis'], { description: 'Storage of logins.' }),
        redis_config: Type.Optional(Redis),
      },
      CLOSED,
    ),
  },
  { ...CLOSED, description: 'Absent: there is no authorization server.' },
);

export type AuthServerConfig = Static<typeof AUTH_SERVER_SCHEMA>;

/**
 * Parameters that belong to a single login, or that would replace all other parameters (RFC 6749 section 4.1.1, RFC
 * 7636, OpenID Connect Core 1.0 sections 3.1.2.1 and 6).
 */
const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  ...['response_type', 'response_mode', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]);

/**
 * Returns true if additional_authorization_params must not contain the parameter. Ignores case, as some providers do.
 */
export function isReservedParameter(name: string): boolean {
  return RESERVED_PARAMETERS.has(name.toLowerCase());
}
