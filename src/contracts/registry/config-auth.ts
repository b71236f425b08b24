// The part of the registry service's configuration that says who may read.

import { Type } from '../../std/json-schema.ts';
import { CLOSED, Text, Texts, Url } from './config-words.ts';

const Provider = Type.Object(
  {
    name: Text('Name in logs.'),
    issuerUrl: Url('Must equal the `iss` claim of accepted tokens exactly.'),
    audience: Text('Expected `aud` claim.'),
    tokenTypes: Type.Optional(
      Texts('`typ` of accepted JWTs, beyond none, `JWT` and `at+jwt`, where the issuer is known to use another.'),
    ),
    jwksUrl: Type.Optional(Url('JWKS endpoint; discovery is skipped.')),
    introspectionUrl: Type.Optional(Url('RFC 7662 endpoint; without it only JWTs can be validated.')),
    clientId: Type.Optional(Text('Client id for introspection.')),
    clientSecretFile: Type.Optional(Text('File that holds the client secret for introspection.')),
    caCertPath: Type.Optional(Text('PEM file that replaces the trusted roots for this provider.')),
    authTokenFile: Type.Optional(Text('File that holds a bearer token for JWKS and introspection requests.')),
    allowPrivateIP: Type.Optional(Type.Boolean({ default: false, description: 'Allow private addresses.' })),
  },
  CLOSED,
);

const OAuth = Type.Object(
  {
    resourceUrl: Url('URL of this service as clients know it: `resource` of the discovery document.'),
    realm: Type.Optional(
      Type.String({
        default: 'mcp-registry',
        pattern: '^[\\x20-\\x7e]+$',
        description: 'Realm of the challenge, in ASCII.',
      }),
    ),
    scopesSupported: Type.Optional(
      Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$', description: 'A scope (RFC 6749).' }), {
        default: ['mcp-registry:read', 'mcp-registry:write'],
        description: 'Scopes advertised in the discovery document.',
      }),
    ),
    enforceScopes: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Reading needs the scope mcp-registry:read, a manual sync mcp-registry:write.',
      }),
    ),
    publicPaths: Type.Optional(Texts('Further paths without authentication, with everything below them.')),
    resourceDocumentation: Type.Optional(Url('`resource_documentation` of the discovery document.')),
    providers: Type.Optional(Type.Array(Provider, { description: 'Identity providers; at least one.' })),
  },
  { ...CLOSED, description: 'Tokens that are accepted.' },
);

export const Auth = Type.Object(
  {
    mode: Type.Optional(
      Type.Enum(['oauth', 'anonymous'], {
        default: 'oauth',
        description: 'anonymous: everybody may read, without a token.',
      }),
    ),
    publicPaths: Type.Optional(Texts('The same as oauth.publicPaths.')),
    syncTokenFile: Type.Optional(
      Text('In mode anonymous: file that holds the token that a manual sync needs. Without it nobody may ask for one.'),
    ),
    oauth: Type.Optional(OAuth),
  },
  { ...CLOSED, description: 'Who may read.' },
);
