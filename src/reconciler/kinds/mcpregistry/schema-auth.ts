// Defines the fields of `spec.authConfig`.

import { OAUTH, PROVIDER } from '#contracts/registry/fields.ts';
import { choice, list, object, optional, text } from '#std/schema.ts';
import { configMapKeyWithDefault, secretKeySelector, secretKeySelectorWithDefault } from '../selectors.ts';

const Provider = object(
  {
    name: PROVIDER.name,
    issuerUrl: PROVIDER.issuerUrl,
    jwksUrl: optional(PROVIDER.jwksUrl),
    audience: PROVIDER.audience,
    clientId: optional(PROVIDER.clientId),
    clientSecretRef: optional(secretKeySelectorWithDefault('Client secret for introspection.', 'clientSecret')),
    caCertRef: optional(configMapKeyWithDefault('Certificate authority to trust, in PEM. Mounted for you.', 'ca.crt')),
    caCertPath: optional(text('Path of a CA file that is in the container already. Takes precedence over caCertRef.')),
    authTokenRef: optional(secretKeySelector('Bearer token for requests to the provider.')),
    authTokenFile: optional(
      text('File with such a token that is in the container already. Takes precedence over authTokenRef.'),
    ),
    introspectionUrl: optional(PROVIDER.introspectionUrl),
    allowPrivateIP: PROVIDER.allowPrivateIP,
  },
  'An identity provider whose tokens are accepted.',
);

const OAuth = object(
  {
    resourceUrl: optional(
      text('URL by which clients know this registry (RFC 9728). Default: the URL of its Service inside the cluster.'),
    ),
    providers: list(Provider, 'Identity providers; a token of any of them is accepted.', { minItems: 1 }),
    ...OAUTH,
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
  'Readers of the registry. Default: anyone.',
  {
    validations: [
      { rule: "self.mode != 'oauth' || has(self.oauth)", message: "oauth must be set when mode is 'oauth'" },
    ],
  },
);
