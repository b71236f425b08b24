// Renders an upstream provider, with which users log in, into the configuration of an embedded authorization server.

import { AUTH_SERVER_DIRECTORY, AUTH_SERVER_FILES, type AuthServerConfig } from '#contracts/auth-server/config.ts';
import type { Static } from '#std/schema.ts';
import type { Bundle } from '../ca-bundle.ts';
import type { UpstreamProvider } from './upstream.ts';

type UpstreamSpec = Static<typeof UpstreamProvider>;
type Rendered = AuthServerConfig['upstreams'][number];
type OIDC = NonNullable<UpstreamSpec['oidcConfig']>;
type OAuth2 = NonNullable<UpstreamSpec['oauth2Config']>;
type UserInfo = NonNullable<OAuth2['userInfo']>;

/** `resourceUrl`: base URL of the default redirect URI. */
export function upstreamConfig(provider: UpstreamSpec, resourceUrl: string, bundle: Bundle | undefined): Rendered {
  const { name, type, oidcConfig, oauth2Config } = provider;
  return {
    name,
    type,
    ca_bundle_path: bundle?.path,
    oidc_config: oidcConfig && oidc(name, oidcConfig, resourceUrl),
    oauth2_config: oauth2Config && oauth2(name, oauth2Config, resourceUrl),
  };
}

function oidc(name: string, config: OIDC, resourceUrl: string): NonNullable<Rendered['oidc_config']> {
  const { issuerUrl, userInfoOverride } = config;
  return {
    issuer_url: issuerUrl,
    client_id: config.clientId,
    ...client(name, config, resourceUrl),
    subject_claim: config.subjectClaim || undefined,
    userinfo_override: userInfoOverride && userInfo(userInfoOverride),
  };
}

function oauth2(name: string, config: OAuth2, resourceUrl: string): NonNullable<Rendered['oauth2_config']> {
  const { tokenResponseMapping: mapping, userInfo: asked, identityFromToken: identity, dcrConfig: dcr } = config;
  return {
    authorization_endpoint: config.authorizationEndpoint,
    token_endpoint: config.tokenEndpoint,
    client_id: config.clientId,
    ...client(name, config, resourceUrl),
    dcr_config: dcr && {
      discovery_url: dcr.discoveryUrl,
      registration_endpoint: dcr.registrationEndpoint,
      initial_access_token_file: dcr.initialAccessTokenRef && inDirectory(AUTH_SERVER_FILES.initialAccessToken(name)),
      software_id: dcr.softwareId,
      software_statement: dcr.softwareStatement,
    },
    insecure_allow_http: config.insecureAllowHTTP,
    allow_private_ips: config.allowPrivateIPs,
    userinfo: asked && userInfo(asked),
    identity_from_token: identity && {
      subject_path: identity.subjectPath,
      name_path: identity.namePath,
      email_path: identity.emailPath,
    },
    token_response_mapping: mapping && {
      access_token_path: mapping.accessTokenPath,
      scope_path: mapping.scopePath,
      refresh_token_path: mapping.refreshTokenPath,
      expires_in_path: mapping.expiresInPath,
    },
  };
}

function client(name: string, config: OIDC | OAuth2, resourceUrl: string) {
  const { clientSecretRef, redirectUri, scopes, additionalAuthorizationParams: more = {} } = config;
  return {
    client_secret_file: clientSecretRef && inDirectory(AUTH_SERVER_FILES.upstreamClientSecret(name)),
    redirect_uri: redirectUri ?? `${resourceUrl.replace(/\/$/, '')}/oauth/callback`,
    scopes: scopes === undefined || scopes.length === 0 ? undefined : scopes,
    additional_authorization_params: Object.keys(more).length === 0 ? undefined : more,
  };
}

function inDirectory(file: string): string {
  return `${AUTH_SERVER_DIRECTORY}/${file}`;
}

function userInfo({ endpointUrl, httpMethod, additionalHeaders, fieldMapping }: UserInfo) {
  return {
    endpoint_url: endpointUrl,
    http_method: httpMethod,
    additional_headers: additionalHeaders,
    field_mapping: fieldMapping && fields(fieldMapping),
  };
}

function fields({ subjectFields, nameFields, emailFields }: NonNullable<UserInfo['fieldMapping']>) {
  return {
    subject_fields: subjectFields,
    name_fields: nameFields,
    email_fields: emailFields,
  };
}
