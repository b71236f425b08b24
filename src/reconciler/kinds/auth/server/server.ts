// Defines the fields of the embedded authorization server: its name, its keys, the lifetimes of its tokens.

import { addressed } from '#std/address/address.ts';
import { bool, duration, integer, list, object, optional, text } from '#std/schema.ts';
import { secretKeyRef } from '../../selectors.ts';
import { primaryProvider } from '../authz.ts';
import { AuthServerStorage } from './storage.ts';
import { DelegateClients, TrustedIssuers } from './trust.ts';
import { UpstreamProvider } from './upstream.ts';

/** RFC 8414, section 2. */
const Issuer = text('URL by which clients know this authorization server: the iss claim of its tokens.', {
  minLength: 1,
  maxLength: 2048,
  validations: [
    {
      rule: "isURL(self) && url(self).getHostname() != '' && url(self).getScheme() in ['https', 'http']",
      message: 'issuer must be a URL with https or http',
    },
    {
      rule: "!self.contains('?') && !self.contains('#') && !self.endsWith('/')",
      message: 'issuer must not have a query, a fragment or a trailing slash (RFC 8414)',
    },
  ],
});

/** Defines a field with a duration. ToolHive's authorization server does not start with a duration outside `bounds`. */
function lifespan(description: string, field: string, bounds: { default: string; least: string; most: string }) {
  const { least, most } = bounds;
  return duration(`${description} Between ${least} and ${most}.`, {
    default: bounds.default,
    validations: [
      {
        rule: `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
        message: `${field} must be between ${least} and ${most}`,
      },
    ],
  });
}

const TokenLifespans = object(
  {
    accessTokenLifespan: lifespan('Lifetime of an access token.', 'accessTokenLifespan', {
      default: '1h',
      least: '1m',
      most: '24h',
    }),
    refreshTokenLifespan: lifespan('Lifetime of a refresh token.', 'refreshTokenLifespan', {
      default: '168h',
      least: '1h',
      most: '720h',
    }),
    authCodeLifespan: lifespan('Time in which an authorization code can be exchanged for tokens.', 'authCodeLifespan', {
      default: '10m',
      least: '30s',
      most: '10m',
    }),
  },
  'Lifetimes of tokens and codes that the server issues.',
  { default: {} },
);

const Cimd = object(
  {
    enabled: bool('True: an app may have a URL as its id, at which a document describes it.', false),
    cacheMaxSize: optional(integer('Number of documents that are kept. Default: 1000.', { minimum: 1 })),
    cacheFallbackTtl: optional(
      duration('Time for which a document without a lifetime of its own is kept, between 1m and 168h. Default: 1h.'),
    ),
  },
  'Apps that a document describes (Client ID Metadata Documents). Default: they may log in.',
);

/** Named EmbeddedAuthServerConfig in ToolHive's documents. */
export const EmbeddedAuthServer = object(
  {
    issuer: Issuer,
    insecureAllowHTTP: optional(
      bool(
        'True: the issuer may be http on another host than localhost, in a network that can be trusted. Tokens and codes are readable there.',
      ),
    ),
    authorizationEndpointBaseUrl: optional(
      addressed(
        text(
          'URL in front of /oauth/authorize, and of the pages that people see after it, if browsers reach the server at another host than backends do. Default: issuer. All other endpoints stay below the issuer.',
          { maxLength: 2048, pattern: '^https?://[^\\s?#]+[^/\\s?#]$' },
        ),
        'url',
      ),
    ),
    signingKeySecretRefs: optional(
      list(
        secretKeyRef('A private key, in PEM.'),
        'Keys that tokens are signed with: the first signs, the others are still accepted. Without any, a key is created at the start and tokens do not survive a restart.',
        { maxItems: 5 },
      ),
    ),
    hmacSecretRefs: optional(
      list(
        secretKeyRef('A random secret of 32 bytes or more.'),
        'Secrets that protect authorization codes and refresh tokens: the first protects, the others are still accepted. Without any, one is created at the start and logins do not survive a restart.',
      ),
    ),
    tokenLifespans: TokenLifespans,
    upstreamProviders: list(
      UpstreamProvider,
      'Providers with which users log in. Servers and remote proxies accept one, virtual servers several.',
      { minItems: 1, keys: ['name'] },
    ),
    primaryUpstreamProvider: optional(primaryProvider('Default: policies read the token of this server.')),
    cimd: optional(Cimd),
    baselineClientScopes: optional(
      list(
        text('A scope of the server.', { minLength: 1, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }),
        'Scopes that each client may request in addition to the scopes that it registered; it gets no other scopes. Default: a client may have each scope of the server.',
        { minItems: 1, maxItems: 10 },
      ),
    ),
    allowConfidentialClientRegistration: optional(
      bool(
        'True: a client whose redirect URIs are all https outside loopback may register for a secret. Anyone who reaches the server may register. Default: clients that register are public.',
      ),
    ),
    forceConfidentialRedirectUris: optional(
      list(
        text('A redirect URI, https and outside loopback.', { pattern: '^https://[^\\s?#]+$' }),
        'Redirect URIs of clients that get a secret even if they register without one: some register as public clients and then need a secret.',
        { minItems: 1, maxItems: 10 },
      ),
    ),
    insecureAllowConfidentialOverLoopbackHTTP: optional(
      bool('True: clients get secrets of an issuer with http on localhost, too. Only for tests.'),
    ),
    trustedIssuers: optional(TrustedIssuers),
    delegateClients: optional(DelegateClients),
    disableUpstreamTokenInjection: optional(
      bool(
        'True: a server behind a proxy gets no token, not even the token of the upstream provider. No effect in a VirtualMCPServer, whose backends have their own authentication.',
      ),
    ),
    storage: AuthServerStorage,
  },
  'An authorization server inside the proxy: users log in with an upstream provider, clients get tokens of this server.',
  {
    validations: [
      {
        rule: "(has(self.insecureAllowHTTP) && self.insecureAllowHTTP) || !isURL(self.issuer) || url(self.issuer).getScheme() != 'http' || url(self.issuer).getHostname() in ['localhost', '127.0.0.1', '::1']",
        message: 'issuer must be an https URL; http is accepted for localhost, and with insecureAllowHTTP',
        fieldPath: '.issuer',
      },
      {
        rule: "(has(self.insecureAllowHTTP) && self.insecureAllowHTTP) || !has(self.authorizationEndpointBaseUrl) || (isURL(self.authorizationEndpointBaseUrl) && (url(self.authorizationEndpointBaseUrl).getScheme() == 'https' || url(self.authorizationEndpointBaseUrl).getHostname() in ['localhost', '127.0.0.1', '::1']))",
        message:
          'authorizationEndpointBaseUrl must be an https URL; http is accepted for localhost, and with insecureAllowHTTP',
        fieldPath: '.authorizationEndpointBaseUrl',
      },
      {
        rule: '!(has(self.allowConfidentialClientRegistration) && self.allowConfidentialClientRegistration && has(self.insecureAllowHTTP) && self.insecureAllowHTTP)',
        message:
          'allowConfidentialClientRegistration and insecureAllowHTTP exclude each other: secrets would be sent unencrypted',
      },
      {
        rule: '(!has(self.forceConfidentialRedirectUris) || size(self.forceConfidentialRedirectUris) == 0) || (has(self.allowConfidentialClientRegistration) && self.allowConfidentialClientRegistration)',
        message: 'forceConfidentialRedirectUris requires allowConfidentialClientRegistration to be true',
      },
      {
        rule: "!has(self.delegateClients) || size(self.delegateClients) == 0 || !self.issuer.startsWith('http://')",
        message: 'delegateClients require an https:// issuer: their secrets would be sent in the clear',
      },
    ],
  },
);
