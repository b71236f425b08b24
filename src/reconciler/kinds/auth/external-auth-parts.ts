// Renders an MCPExternalAuthConfig for a proxy: blocks of the proxy's configuration, Secrets and certificates in files.

import type { OutgoingAuthBlocks } from '#contracts/run-config-auth.ts';
import type { View } from '../kind.ts';
import type { Mounted } from '../pods/pod.ts';
import { SECRET_FILES, type SecretFile, secretPath } from '../pods/secret-files.ts';
import { type Bundle, bundleOf } from './ca-bundle.ts';
import { type ExternalAuthConfig, externalAuthConfig } from './external-auth-config.ts';
import type { ResolvedOIDC } from './oidc-settings.ts';
import { authServerParts } from './server/parts.ts';
import { authServerScopes } from './server/scopes.ts';

/** A resource with a proxy. */
export interface ExternalAuthUser {
  readonly name: string;
  readonly namespace: string;
  readonly ref: { readonly name: string } | undefined;
  /** Reference to the authorization server, if `ref` names other settings. */
  readonly serverRef?: { readonly name: string };
  /** Settings for the tokens that the proxy accepts; undefined if anyone may call the resource. */
  readonly oidc: ResolvedOIDC | undefined;
}

export interface ExternalAuthParts {
  readonly blocks: OutgoingAuthBlocks;
  readonly files: readonly SecretFile[];
  readonly mounted: readonly Mounted[];
  readonly bundles: readonly Bundle[];
  /**
   * Settings for the tokens that the proxy accepts. If it has an authorization server, `scopes` are the scopes that
   * this server issues.
   */
  readonly oidc: ResolvedOIDC | undefined;
}

export function externalAuthParts(user: ExternalAuthUser, view: View): ExternalAuthParts {
  const none = { blocks: {}, files: [], mounted: [], bundles: [], oidc: user.oidc };
  const behind = { ...none, ...partsOf(user, view) };
  const server = externalAuthConfig(user.serverRef, view)?.embeddedAuthServer;
  if (server === undefined) return behind;
  const parts = { ...none, ...serverParts(server, user, view) };
  return {
    blocks: { ...behind.blocks, ...parts.blocks },
    files: behind.files,
    mounted: [...behind.mounted, ...parts.mounted],
    bundles: [...behind.bundles, ...parts.bundles],
    oidc: parts.oidc,
  };
}

function partsOf(user: ExternalAuthUser, view: View): Partial<ExternalAuthParts> {
  const { type, tokenExchange, headerInjection, bearerToken, embeddedAuthServer, cloudSts, xaa } =
    externalAuthConfig(user.ref, view) ?? {};
  if (type === 'unauthenticated') return { blocks: { remove_caller_token: true } };
  if (tokenExchange !== undefined) return exchangeParts(tokenExchange, view);
  if (headerInjection !== undefined) return headerParts(headerInjection);
  if (bearerToken !== undefined) return bearerParts(bearerToken);
  if (xaa !== undefined) return accessParts(xaa);
  if (cloudSts !== undefined) return { blocks: { aws_sts_config: stsBlock(cloudSts) } };
  return embeddedAuthServer === undefined ? {} : serverParts(embeddedAuthServer, user, view);
}

const URN = 'urn:ietf:params:oauth:token-type:';
/** Full token types, by the short names and full names that manifests can contain (RFC 8693, section 3). */
export const TOKEN_TYPES = {
  access_token: `${URN}access_token`,
  id_token: `${URN}id_token`,
  jwt: `${URN}jwt`,
  [`${URN}access_token`]: `${URN}access_token`,
  [`${URN}id_token`]: `${URN}id_token`,
  [`${URN}jwt`]: `${URN}jwt`,
} as const;

function exchangeParts(
  config: NonNullable<ExternalAuthConfig['tokenExchange']>,
  view: View,
): Partial<ExternalAuthParts> {
  const { clientSecretRef, scopes = [], externalTokenHeaderName } = config;
  const clientId = config.clientId === '' ? undefined : config.clientId;
  const file = SECRET_FILES.tokenExchangeClientSecret;
  // Only a client with an id has a secret (RFC 6749, section 2.3.1).
  const secret = clientId === undefined ? undefined : clientSecretRef;
  const bundle = bundleOf(config.caBundleRef, view);
  const block = {
    token_url: config.tokenUrl,
    ca_bundle_path: bundle?.path,
    client_id: clientId,
    client_secret_file: secret && secretPath(file),
    audience: config.audience,
    scopes: scopes.length === 0 ? undefined : scopes,
    subject_token_type: TOKEN_TYPES[config.subjectTokenType],
    header_strategy: externalTokenHeaderName === undefined ? ('replace' as const) : ('custom' as const),
    external_token_header_name: externalTokenHeaderName,
  };
  return {
    blocks: { token_exchange_config: block },
    files: secret === undefined ? [] : [{ file, secret }],
    bundles: bundle === undefined ? [] : [bundle],
  };
}

function accessParts(config: NonNullable<ExternalAuthConfig['xaa']>): Partial<ExternalAuthParts> {
  const { idpClientId, targetClientId, scopes = [] } = config;
  // Only a client with an id has a secret (RFC 6749, section 2.3.1).
  const idp = idpClientId ? config.idpClientSecretRef : undefined;
  const target = targetClientId ? config.targetClientSecretRef : undefined;
  const block = {
    idp_token_url: config.idpTokenUrl,
    idp_client_id: idpClientId || undefined,
    idp_client_secret_file: idp && secretPath(SECRET_FILES.idpClientSecret),
    target_token_url: config.targetTokenUrl,
    insecure_target_token_url: config.insecureTargetTokenUrl,
    target_client_id: targetClientId || undefined,
    target_client_secret_file: target && secretPath(SECRET_FILES.targetClientSecret),
    target_audience: config.targetAudience,
    target_resource: config.targetResource,
    scopes: scopes.length === 0 ? undefined : scopes,
  };
  return {
    blocks: { xaa_config: block },
    files: [
      ...(idp === undefined ? [] : [{ file: SECRET_FILES.idpClientSecret, secret: idp }]),
      ...(target === undefined ? [] : [{ file: SECRET_FILES.targetClientSecret, secret: target }]),
    ],
  };
}

function headerParts(config: NonNullable<ExternalAuthConfig['headerInjection']>): Partial<ExternalAuthParts> {
  const { headerName, valueSecretRef } = config;
  const file = SECRET_FILES.headerValue;
  const block = { header_name: headerName, value_file: secretPath(file) };
  return { blocks: { header_injection_config: block }, files: [{ file, secret: valueSecretRef }] };
}

function bearerParts({ tokenSecretRef }: NonNullable<ExternalAuthConfig['bearerToken']>): Partial<ExternalAuthParts> {
  const file = SECRET_FILES.bearerToken;
  const block = { token_file: secretPath(file) };
  return { blocks: { bearer_token_config: block }, files: [{ file, secret: tokenSecretRef }] };
}

/** Returns the service name for signatures. An empty name and `cloud-mcp` mean `aws-mcp`. */
export function signedService(service: string): string {
  return service === '' || service === 'cloud-mcp' ? 'aws-mcp' : service;
}

function stsBlock(
  config: NonNullable<ExternalAuthConfig['cloudSts']>,
): NonNullable<OutgoingAuthBlocks['aws_sts_config']> {
  const { fallbackRoleArn, roleMappings = [] } = config;
  const mappings = roleMappings.map(({ claim, matcher, roleArn, priority }) => ({
    claim,
    matcher,
    role_arn: roleArn,
    priority,
  }));
  return {
    region: config.region,
    service: signedService(config.service),
    fallback_role_arn: fallbackRoleArn,
    role_mappings: mappings.length === 0 ? undefined : mappings,
    role_claim: config.roleClaim,
    session_duration: config.sessionDuration,
    session_name_claim: config.sessionNameClaim,
  };
}

/** Returns parts for an authorization server. The server issues the scopes that the resource advertises. */
function serverParts(
  config: NonNullable<ExternalAuthConfig['embeddedAuthServer']>,
  { name, namespace, oidc }: ExternalAuthUser,
  view: View,
): Partial<ExternalAuthParts> {
  if (oidc === undefined) return {};
  const scopes = authServerScopes(oidc.settings.scopes);
  const { audience, resource_url: resourceUrl } = oidc.settings;
  const server = authServerParts(config, { name, namespace, resourceUrl, audience, scopes }, view);
  return {
    blocks: { embedded_auth_server_config: server.config },
    mounted: server.mounted,
    bundles: server.bundles,
    oidc: { ...oidc, settings: { ...oidc.settings, scopes } },
  };
}
