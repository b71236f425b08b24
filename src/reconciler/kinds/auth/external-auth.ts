// Defines the fields for authentication to the server behind a proxy, which servers, remote proxies and virtual servers
// share.

import { UpstreamInject } from '#contracts/virtual/auth.ts';
import { CloudSts } from '#contracts/virtual/cloud-sts.ts';
import { subjectProvider } from '#contracts/virtual/subject-provider.ts';
import { TARGET_URL_RULE, XAA_FIELDS } from '#contracts/virtual/xaa.ts';
import { addressed } from '#std/address/address.ts';
import { choice, list, object, optional, text } from '#std/schema.ts';
import { secretKeyRef } from '../selectors.ts';
import { caBundleRef } from './ca-bundle.ts';
import { EmbeddedAuthServer } from './server/server.ts';

/** Token types of RFC 8693, section 3: short names in manifests and full names. */
const TOKEN_TYPES = [
  'access_token',
  'id_token',
  'jwt',
  'urn:ietf:params:oauth:token-type:access_token',
  'urn:ietf:params:oauth:token-type:id_token',
  'urn:ietf:params:oauth:token-type:jwt',
] as const;

/**
 * Defines the name of a header (RFC 9110, section 5.1). Refuses headers that describe the connection. Headers that
 * identify the caller are refused by rules instead, because released definitions accept them.
 */
function headerName(description: string) {
  return text(description, {
    minLength: 1,
    maxLength: 256,
    pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
    validations: [
      {
        rule: "!(self.lowerAscii() in ['connection', 'content-length', 'host', 'http2-settings', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']) && !self.lowerAscii().startsWith('proxy-')",
        message: 'this header belongs to the connection and cannot be set',
      },
    ],
  });
}

const TokenExchange = object(
  {
    tokenUrl: addressed(
      text('Token endpoint that exchanges tokens.', { minLength: 1, pattern: '^https?://[^\\s/?#]+([/?#]\\S*)?$' }),
      'url',
    ),
    clientId: optional(text('Client id of the proxy at the endpoint.')),
    clientSecretRef: optional(secretKeyRef('Client secret. Some flows have none.')),
    caBundleRef: optional(
      caBundleRef(
        'requests to the endpoint. Default: the authorities of oidcConfig, if its issuer has the same host and port',
      ),
    ),
    audience: text('Audience of the requested token.', { minLength: 1 }),
    scopes: optional(list(text('A scope.', { minLength: 1 }), 'Scopes of the requested token.')),
    subjectProviderName: subjectProvider('token that is exchanged'),
    subjectTokenType: choice("Type of the caller's token.", TOKEN_TYPES, { default: 'access_token' }),
    externalTokenHeaderName: optional(
      headerName(
        'Header that carries the new token, as `Bearer <token>`; Authorization is removed then. Without it, the token replaces the one in Authorization.',
      ),
    ),
  },
  "The caller's token is exchanged for a token for the server behind the proxy (RFC 8693).",
);

const HeaderInjection = object(
  {
    headerName: headerName('Name of the header.'),
    valueSecretRef: secretKeyRef('Value of the header.'),
  },
  'Every request gets a header with a secret value.',
);

const BearerToken = object(
  { tokenSecretRef: secretKeyRef('The token.') },
  'Every request gets the same bearer token, which is a secret.',
);

const Xaa = object(
  {
    ...XAA_FIELDS,
    idpClientSecretRef: optional(secretKeyRef('Client secret at the identity provider.')),
    targetClientSecretRef: optional(secretKeyRef('Client secret at the authorization server of the backend.')),
  },
  'The id_token of the login of a caller becomes a token of a server that trusts the same identity provider (ID-JAG).',
  { validations: [TARGET_URL_RULE] },
);

function ifAndOnlyIf(type: string) {
  return {
    rule: `(self.type == '${type}') == has(self.${type})`,
    message: `${type} configuration must be set if and only if type is '${type}'`,
  };
}

/** Defines the spec of MCPExternalAuthConfig. Messages are ToolHive's messages. */
export const ExternalAuth = object(
  {
    type: choice(
      'Way of authentication. unauthenticated: none, in a network that can be trusted.',
      [
        'tokenExchange',
        'headerInjection',
        'bearerToken',
        'unauthenticated',
        'embeddedAuthServer',
        'cloudSts',
        'upstreamInject',
        'xaa',
      ],
      { spellings: { cloudSts: 'awsSts' } },
    ),
    tokenExchange: optional(TokenExchange),
    headerInjection: optional(HeaderInjection),
    bearerToken: optional(BearerToken),
    embeddedAuthServer: optional(EmbeddedAuthServer),
    cloudSts: optional(CloudSts),
    upstreamInject: optional(UpstreamInject),
    xaa: optional(Xaa),
  },
  'Way of authentication, with its settings.',
  {
    spellings: { cloudSts: 'awsSts' },
    validations: [
      ifAndOnlyIf('tokenExchange'),
      ifAndOnlyIf('headerInjection'),
      ifAndOnlyIf('bearerToken'),
      ifAndOnlyIf('embeddedAuthServer'),
      ifAndOnlyIf('upstreamInject'),
      ifAndOnlyIf('xaa'),
      // Old and new names of the type and of its settings can be combined. The message names the type that the author
      // wrote.
      {
        rule: "self.type == 'awsSts' || has(self.awsSts) || (self.type == 'cloudSts') == has(self.cloudSts)",
        message: "cloudSts configuration must be set if and only if type is 'cloudSts'",
      },
      {
        rule: "!(self.type == 'awsSts' || has(self.awsSts)) || (self.type in ['awsSts', 'cloudSts']) == (has(self.awsSts) || has(self.cloudSts))",
        message: "awsSts configuration must be set if and only if type is 'awsSts'",
      },
      {
        rule: "self.type != 'unauthenticated' || !(has(self.tokenExchange) || has(self.headerInjection) || has(self.bearerToken) || has(self.embeddedAuthServer) || has(self.cloudSts) || has(self.awsSts) || has(self.upstreamInject) || has(self.xaa))",
        message: "no configuration must be set when type is 'unauthenticated'",
      },
    ],
  },
);
