// Defines cross-application access, which exchanges the id_token of a login for a token of a server that trusts the
// same identity provider (draft-ietf-oauth-identity-assertion-authz-grant). The configuration model and
// MCPExternalAuthConfigs share the fields.

import { addressed } from '#std/address/address.ts';
import { bool, choice, list, optional, text } from '#std/schema.ts';
import { PROVIDER } from './subject-provider.ts';

const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

const url = (description: string, pattern: string) =>
  addressed(text(description, { minLength: 1, maxLength: 2048, pattern }), 'url');

/** All fields except the secrets. */
export const XAA_FIELDS = {
  idpTokenUrl: url(
    'Token endpoint of the identity provider, which gives an assertion for the id_token (RFC 8693).',
    '^https://[^\\s/?#]+([/?#]\\S*)?$',
  ),
  idpClientId: optional(text('Client id at the identity provider.')),
  targetTokenUrl: url(
    'Token endpoint of the authorization server of the backend, which gives a token for the assertion (RFC 7523).',
    '^https?://[^\\s/?#]+([/?#]\\S*)?$',
  ),
  insecureTargetTokenUrl: optional(
    bool('True: targetTokenUrl may be http on another host than localhost. Tokens are readable there.'),
  ),
  targetClientId: optional(text('Client id at the authorization server of the backend.')),
  targetAudience: text('Issuer of the authorization server of the backend: the aud of the assertion.', {
    minLength: 1,
  }),
  targetResource: optional(
    addressed(
      text('URL of the backend (RFC 8707), which the assertion must name then. Some identity providers need it.', {
        minLength: 1,
      }),
      'url',
    ),
  ),
  scopes: optional(list(text('A scope.', { minLength: 1 }), 'Scopes of the assertion and of the token.')),
  subjectProviderName: optional(
    text(
      'Name of an upstream provider of type oidc of the embedded authorization server: the id_token of the login there is used. Default: its first provider.',
      PROVIDER,
    ),
  ),
  subjectTokenType: optional(choice('What is exchanged at the identity provider.', [ID_TOKEN])),
};

/**
 * CEL rule for the URL of the backend's authorization server. The rule uses no regular expression, because an API
 * server would estimate its cost for the longest text and 1,000 backends, and refuse the definition.
 */
export const TARGET_URL_RULE = {
  rule: "(has(self.insecureTargetTokenUrl) && self.insecureTargetTokenUrl) || self.targetTokenUrl.startsWith('https://') || ['http://localhost', 'http://127.0.0.1', 'http://[::1]'].exists(host, self.targetTokenUrl == host || [':', '/', '?', '#'].exists(end, self.targetTokenUrl.startsWith(host + end)))",
  message: 'targetTokenUrl must be an https URL; http is accepted for localhost, and with insecureTargetTokenUrl',
  fieldPath: '.targetTokenUrl',
};
