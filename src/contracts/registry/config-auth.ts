// Defines the part of the registry service's configuration about who may read.

import { Type } from '#std/json-schema.ts';
import { setting } from '../file-form.ts';
import { CLOSED, Text, Texts, Url } from './config-words.ts';
import { OAUTH, PROVIDER } from './fields.ts';
import { PROVIDER_ENDPOINTS, PROVIDER_TOKENS } from './file-fields.ts';

const Provider = Type.Object(
  {
    ...PROVIDER_TOKENS,
    tokenTypes: Type.Optional(
      Texts('Further accepted `typ` of JWTs. JWTs without `typ`, or with `JWT` or `at+jwt`, are always accepted.'),
    ),
    ...PROVIDER_ENDPOINTS,
    clientSecretFile: Type.Optional(Text('File that holds the client secret for introspection.')),
    caCertPath: Type.Optional(Text('PEM file that replaces the trusted roots for this provider.')),
    authTokenFile: Type.Optional(Text('File that holds a bearer token for JWKS and introspection requests.')),
    allowPrivateIP: setting(PROVIDER.allowPrivateIP),
  },
  CLOSED,
);

const OAuth = Type.Object(
  {
    resourceUrl: Url('URL of this service as clients know it: `resource` of the discovery document.'),
    realm: setting(OAUTH.realm),
    scopesSupported: setting(OAUTH.scopesSupported),
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
        description: 'anonymous: every client may read, without a token.',
      }),
    ),
    publicPaths: Type.Optional(Texts('The same as oauth.publicPaths.')),
    syncTokenFile: Type.Optional(
      Text(
        'In mode anonymous: file that holds the token that a manual sync needs. Without the file, manual syncs are refused.',
      ),
    ),
    oauth: Type.Optional(OAuth),
  },
  { ...CLOSED, description: 'Who may read.' },
);
