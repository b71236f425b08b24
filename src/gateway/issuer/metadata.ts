// Builds the metadata of the authorization server (RFC 8414).

import type { JsonObject } from '#std/json.ts';
import { TOKEN_EXCHANGE } from './grants/delegates.ts';
import { JWT_BEARER } from './grants/jwt-bearer.ts';
import { SECRET_METHODS } from './records.ts';
import type { IssuerSettings } from './settings.ts';

/** Signature algorithms for client authentication with keys (RFC 7523). */
const SIGNATURES = ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/**
 * Builds the metadata, which is also served for OpenID Connect Discovery. The metadata has no members about ID tokens,
 * because this server issues none.
 */
export function issuerMetadata(settings: IssuerSettings): JsonObject {
  const { issuer, pagesUrl, scopes, documents, confidential, delegates, trusted } = settings;
  const hasSecrets = confidential !== undefined || delegates.length > 0;
  const methods = ['none', 'private_key_jwt', ...(hasSecrets ? SECRET_METHODS : [])];
  return {
    issuer,
    authorization_endpoint: `${pagesUrl}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: [...scopes],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'refresh_token',
      ...(delegates.length === 0 ? [] : [TOKEN_EXCHANGE]),
      ...(trusted.some(({ bearer }) => bearer !== undefined) ? [JWT_BEARER] : []),
    ],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: [...SIGNATURES],
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: [...SIGNATURES],
    client_id_metadata_document_supported: documents !== undefined,
    authorization_response_iss_parameter_supported: true,
    subject_types_supported: ['public'],
  };
}

const DOCUMENTS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/**
 * Returns the paths of the metadata. The path of the issuer follows the well-known path (RFC 8414 section 3.1),
 * precedes the well-known path (OpenID Connect Discovery), or is missing. Each path may end with a slash.
 */
export function metadataLocations({ path }: IssuerSettings): readonly string[] {
  const paths = DOCUMENTS.flatMap((document) => [`${document}${path}`, `${path}${document}`, document]);
  return [...new Set(paths.flatMap((each) => [each, `${each}/`]))];
}
