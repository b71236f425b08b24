// The fields of `spec.authConfig`. Knows nothing about tokens.

import { bool, choice, list, object, optional, text } from '../../std/schema.ts';
import { configMapKeyWithDefault, secretKeySelector, secretKeySelectorWithDefault } from '../selectors.ts';

const HTTP_URL = { minLength: 1, pattern: '^https?://.*' };

const Provider = object(
  {
    name: text('Name of the provider, for logs.', { minLength: 1 }),
    issuerUrl: text('Issuer of the tokens, exactly as their iss claim has it.', HTTP_URL),
    jwksUrl: optional(text('Where the signing keys are; discovery is skipped.', HTTP_URL)),
    audience: text('Audience that tokens must be made for.', { minLength: 1 }),
    clientId: optional(text('Client id for introspection.')),
    clientSecretRef: optional(secretKeySelectorWithDefault('Client secret for introspection.', 'clientSecret')),
    caCertRef: optional(configMapKeyWithDefault('Certificate authority to trust, in PEM. Mounted for you.', 'ca.crt')),
    caCertPath: optional(text('Path of a CA file that is in the container already. Wins over caCertRef.')),
    authTokenRef: optional(secretKeySelector('Bearer token for requests to the provider.')),
    authTokenFile: optional(text('File with such a token that is in the container already. Wins over authTokenRef.')),
    introspectionUrl: optional(
      text('Where opaque tokens are checked (RFC 7662). Without it, only JWTs are.', HTTP_URL),
    ),
    allowPrivateIP: bool('True: the provider may be at a private address.', false),
  },
  'An identity provider whose tokens are accepted.',
);

const OAuth = object(
  {
    resourceUrl: optional(
      text('URL by which clients know this registry (RFC 9728). Default: the URL of its Service inside the cluster.'),
    ),
    providers: list(Provider, 'Identity providers; a token of any of them is accepted.', { minItems: 1 }),
    scopesSupported: list(text('A scope.'), 'Scopes to advertise to clients.', {
      default: ['mcp-registry:read', 'mcp-registry:write'],
    }),
    realm: text('Realm of the WWW-Authenticate header.', { default: 'mcp-registry' }),
  },
  'Settings for mode oauth.',
);

export const Auth = object(
  {
    mode: choice('anonymous: anyone may read. oauth: only with a token.', ['anonymous', 'oauth'], {
      default: 'anonymous',
    }),
    oauth: optional(OAuth),
  },
  'Who may read the registry. Default: anyone.',
  {
    validations: [
      { rule: "self.mode != 'oauth' || has(self.oauth)", message: "oauth must be set when mode is 'oauth'" },
    ],
  },
);
