// Defines the fields for the providers with which users of an embedded authorization server log in.

import { addressed } from '#std/address/address.ts';
import { bool, choice, list, object, optional, text, textMap } from '#std/schema.ts';
import { secretKeyRef } from '../../selectors.ts';
import { caBundleRef } from '../ca-bundle.ts';

/** Defines a field with an http or https URL (virtual server document). */
function endpoint(description: string) {
  return addressed(text(description, { minLength: 1, pattern: '^https?://[^\\s/?#]+([/?#]\\S*)?$' }), 'url');
}

const CALLBACK = 'URL that the provider sends users back to. Default: /oauth/callback below the resource URL.';

function scopes(description: string, fallback?: readonly string[]) {
  const items = text('A scope.', { minLength: 1 });
  return list(items, description, fallback === undefined ? {} : { default: fallback });
}

function claims(what: string, standard: string) {
  const items = text('Name of a field.', { minLength: 1 });
  return list(items, `Fields to look for ${what} in; the first that is not empty counts. Default: ${standard}.`);
}

const MORE_PARAMETERS = textMap(
  'Parameters to add to the URL that users are sent to, such as access_type=offline. Parameters of the protocol cannot be set.',
  { maxProperties: 16 },
);

const FieldMapping = object(
  {
    subjectFields: optional(claims('the id of the user', 'sub')),
    nameFields: optional(claims('the name of the user', 'name')),
    emailFields: optional(claims('the e-mail address of the user', 'email')),
  },
  'Fields of the response about the user. Default: the names of OpenID Connect.',
);

function userInfo(description: string) {
  return object(
    {
      endpointUrl: endpoint('URL that returns the user of a token.'),
      httpMethod: choice('Method of the request.', ['GET', 'POST'], { default: 'GET' }),
      additionalHeaders: optional(textMap('Headers of the request.')),
      fieldMapping: optional(FieldMapping),
    },
    description,
  );
}

const OIDCUpstream = object(
  {
    issuerUrl: addressed(
      text('Issuer; its endpoints are found by discovery.', {
        minLength: 1,
        pattern: '^https://[^\\s/?#]+([/?#]\\S*)?$',
      }),
      'url',
    ),
    clientId: text('Client id of this server at the provider.', { minLength: 1 }),
    clientSecretRef: optional(secretKeyRef('Client secret. Public clients have none and use PKCE.')),
    redirectUri: optional(endpoint(CALLBACK)),
    scopes: scopes('Scopes to request.', ['openid', 'offline_access']),
    additionalAuthorizationParams: optional(MORE_PARAMETERS),
    subjectClaim: optional(
      text(
        'Claim of the id_token that is the id of the user, such as oid. Default: sub. With another claim, existing users count as new ones.',
        {
          maxLength: 128,
          pattern: '^([a-zA-Z_][a-zA-Z0-9_]*)?$',
        },
      ),
    ),
    userInfoOverride: optional(userInfo('Endpoint for the user, in place of the discovered one.')),
  },
  'A provider with OpenID Connect.',
);

const TokenResponseMapping = object(
  {
    accessTokenPath: text('Path of the access token.', { minLength: 1 }),
    scopePath: text('Path of the scopes.', { default: 'scope' }),
    refreshTokenPath: text('Path of the refresh token.', { default: 'refresh_token' }),
    expiresInPath: text('Path of the lifetime, in seconds.', { default: 'expires_in' }),
  },
  'Fields of the token response, as paths with dots, for providers whose response differs from RFC 6749.',
);

function responsePath(what: string) {
  return text(`Path of ${what}, with dots; |@upstreamjwt reads the claims of a JWT.`, {
    minLength: 1,
    maxLength: 256,
    pattern: '^[^|@#*?\\\\]+([|]@upstreamjwt[|][^|@#*?\\\\]+)?$',
  });
}

const IdentityFromToken = object(
  {
    subjectPath: responsePath('the id of the user'),
    namePath: optional(responsePath('the name of the user')),
    emailPath: optional(responsePath('the e-mail address of the user')),
  },
  'Fields of the token response that identify the user. Only TLS protects them.',
);

/** Defines an https URL: tokens and secrets must be encrypted in transit (RFC 7591 section 3). */
function httpsUrl(description: string) {
  return addressed(text(description, { maxLength: 2048, pattern: '^https://[^\\s?#]+[^/\\s?#]$' }), 'url');
}

const Registration = object(
  {
    discoveryUrl: optional(httpsUrl('URL of the metadata of the provider, which names its registration endpoint.')),
    registrationEndpoint: optional(httpsUrl('URL that registers clients, if the provider has no metadata.')),
    initialAccessTokenRef: optional(secretKeyRef('Token to register with. Default: the endpoint is open.')),
    softwareId: optional(text('The software_id of the registration.', { minLength: 1, maxLength: 255 })),
    softwareStatement: optional(
      text('The software_statement of the registration: a signed JWT that is not secret.', {
        minLength: 1,
        maxLength: 16384,
      }),
    ),
  },
  'How this server registers itself as a client at the provider (RFC 7591), in place of clientId. All replicas share one registration.',
  {
    validations: [
      {
        rule: 'has(self.discoveryUrl) != has(self.registrationEndpoint)',
        message: 'exactly one of discoveryUrl or registrationEndpoint must be set',
      },
    ],
  },
);

const OAuth2Upstream = object(
  {
    authorizationEndpoint: endpoint('URL that users are sent to.'),
    tokenEndpoint: endpoint('URL that exchanges codes for tokens.'),
    userInfo: optional(userInfo('Endpoint for the user, unless identityFromToken is set.')),
    identityFromToken: optional(IdentityFromToken),
    clientId: optional(text('Client id of this server at the provider, unless dcrConfig is set.', { minLength: 1 })),
    dcrConfig: optional(Registration),
    insecureAllowHTTP: optional(
      bool(
        'False: endpoints of the provider with http on another host than localhost are refused. True: there is no warning about them. Default: a warning, if they are outside the cluster.',
      ),
    ),
    allowPrivateIPs: optional(
      bool(
        'False: the provider is refused at a private address. True: so may be the registration endpoint that its metadata names. Default: hosts in this resource may be private.',
      ),
    ),
    clientSecretRef: optional(secretKeyRef('Client secret. Public clients have none and use PKCE.')),
    redirectUri: optional(endpoint(CALLBACK)),
    scopes: optional(scopes('Scopes to request.')),
    additionalAuthorizationParams: optional(MORE_PARAMETERS),
    tokenResponseMapping: optional(TokenResponseMapping),
  },
  'A provider with OAuth 2.0 only.',
  {
    validations: [
      {
        rule: '(has(self.clientId) && size(self.clientId) > 0) ? !has(self.dcrConfig) : has(self.dcrConfig)',
        message: 'exactly one of clientId or dcrConfig must be set',
      },
      {
        rule: '!(has(self.dcrConfig) && has(self.clientSecretRef))',
        message: 'clientSecretRef must not be set when dcrConfig is set: the provider issues the secret',
      },
      {
        rule: 'has(self.userInfo) || has(self.identityFromToken)',
        message: 'one of userInfo and identityFromToken must be set: nothing else identifies a user',
      },
    ],
  },
);

/** Named UpstreamProviderConfig in ToolHive's documents. */
export const UpstreamProvider = object(
  {
    name: text('Name of the provider; unique in the list.', {
      minLength: 1,
      maxLength: 63,
      pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
    }),
    type: choice('Protocol of the provider.', ['oidc', 'oauth2']),
    caBundleRef: optional(caBundleRef('requests to the provider')),
    oidcConfig: optional(OIDCUpstream),
    oauth2Config: optional(OAuth2Upstream),
  },
  'A provider with which users log in.',
  {
    validations: [
      {
        rule: "(self.type == 'oidc') == has(self.oidcConfig)",
        message: "oidcConfig must be set when type is 'oidc', and must not be set otherwise",
      },
      {
        rule: "(self.type == 'oauth2') == has(self.oauth2Config)",
        message: "oauth2Config must be set when type is 'oauth2', and must not be set otherwise",
      },
    ],
  },
);
