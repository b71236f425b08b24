// Resolves the OIDC settings of a resource into settings for its proxy, and into environment variables and mounts for
// the proxy's pod.

import { type RunConfig, SECRET_ENV } from '#contracts/run-config.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import type { Static } from '#std/schema.ts';
import type { Finding, Reference, View } from '../kind.ts';
import type { Env } from '../pods/pod.ts';
import { type Bundle, bundleOf, bundleReferences } from './ca-bundle.ts';
import { CLUSTER_ISSUER, type OIDCConfig } from './oidc.ts';
import { type TokenSettings, type TokenSource, tokenSettings } from './token-settings.ts';

type Ref = Static<typeof OIDCConfig>;
type Inline = NonNullable<Ref['inline']>;
type OidcSettings = NonNullable<RunConfig['oidc_config']>;

export interface ResolvedOIDC {
  readonly settings: OidcSettings;
  readonly env: readonly Env[];
  readonly bundle?: Bundle;
  /** True if the proxy uses its pod's service account token. */
  readonly needsToken: boolean;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Facts about the resource that accepts the tokens. */
export interface OIDCOwner {
  readonly namespace: string;
  /** URL of the resource if its settings name no URL. */
  readonly origin: string;
}

/** Owner for settings that depend neither on the resource's URL nor on its namespace. */
export const ANY_OWNER: OIDCOwner = { namespace: '', origin: '' };

/**
 * Returns the settings, or findings if they cannot be read. Returns undefined if anyone may call the resource. `at`:
 * pointer of the object with the fields of `source`.
 */
export function resolveOIDC(
  source: TokenSource,
  view: View,
  { namespace, origin }: OIDCOwner,
  at = '/spec',
): ResolvedOIDC | { readonly findings: readonly Finding[] } | undefined {
  const found = tokenSettings(source, view);
  if (found === undefined) return undefined;
  if ('fault' in found) {
    return oidcConfigFault(source.oidcConfigRef === undefined ? at : `${at}/oidcConfigRef/name`, found.fault);
  }
  const resourceUrl = nonEmptyText(found.resourceUrl) ?? origin;
  if (isOfCluster(found)) return kubernetes(found, resourceUrl, namespace);
  if (found.inline !== undefined) return inline(found.inline, view, resourceUrl);
  const inside = configMapSettings(found.configMap, view);
  if ('message' in inside) return oidcConfigFault(`${at}/oidcConfig/configMap`, inside.message);
  return inline({ ...inside, caBundleRef: found.configMap?.caBundleRef }, view, resourceUrl);
}

function oidcConfigFault(pointer: string, message: string): { readonly findings: readonly Finding[] } {
  return { findings: [{ code: 'oidc-config-invalid', severity: 'error', pointer, message }] };
}

function isOfCluster({ kubernetes, type }: Ref): boolean {
  return kubernetes !== undefined || type === 'kubernetes';
}

export interface AcceptedAccounts {
  readonly issuer: string;
  /** True if tokens of the API server's own issuer are accepted in addition to tokens of `issuer`. */
  readonly isApiServer: boolean;
}

/** Returns undefined if the resource accepts no service account tokens, or if its settings cannot be read. */
export function acceptedAccounts(source: TokenSource, view: View): AcceptedAccounts | undefined {
  const found = tokenSettings(source, view);
  if (found === undefined || 'fault' in found || !isOfCluster(found)) return undefined;
  const { issuer, issuer_is_api_server } = kubernetes(found, '', '').settings;
  return { issuer, isApiServer: issuer_is_api_server === true };
}

/** Lists the ConfigMaps and Secrets that settings in the resource itself name. */
export function oidcReferences(ref: Ref | undefined, pointer: string): readonly Reference[] {
  const { configMap, inline } = ref ?? {};
  const secret = inline?.clientSecretRef;
  return [
    ...(configMap === undefined
      ? []
      : [{ pointer: `${pointer}/configMap/name`, kind: 'ConfigMap', name: configMap.name }]),
    ...bundleReferences(configMap?.caBundleRef, `${pointer}/configMap/caBundleRef`),
    ...bundleReferences(inline?.caBundleRef, `${pointer}/inline/caBundleRef`),
    ...(secret === undefined
      ? []
      : [{ pointer: `${pointer}/inline/clientSecretRef`, kind: 'Secret', ...secret, optional: 'waited' as const }]),
  ];
}

function kubernetes(
  { kubernetes: config, scopes }: TokenSettings,
  resourceUrl: string,
  ownNamespace: string,
): ResolvedOIDC {
  const needsToken = config?.useClusterAuth !== false;
  const issuer = nonEmptyText(config?.issuer) ?? CLUSTER_ISSUER;
  // Keys at a JWKS URL that the author sets can differ from the API server's keys.
  const isOfApiServer = issuer === CLUSTER_ISSUER && needsToken && nonEmptyText(config?.jwksUrl) === undefined;
  const settings: OidcSettings = {
    issuer,
    issuer_is_api_server: isOfApiServer ? true : undefined,
    audience: nonEmptyText(config?.audience) ?? 'toolhive',
    service_account: acceptedAccount(config, ownNamespace),
    jwks_url: nonEmptyText(config?.jwksUrl),
    introspection_url: nonEmptyText(config?.introspectionUrl),
    ca_bundle_path: needsToken ? `${ACCOUNT}/ca.crt` : undefined,
    auth_token_file: needsToken ? `${ACCOUNT}/token` : undefined,
    jwks_allow_private_ip: needsToken,
    protected_resource_allow_private_ip: needsToken,
    insecure_allow_http: false,
    resource_url: resourceUrl,
    scopes: advertised(scopes),
  };
  return { settings, env: [], needsToken };
}

/**
 * Returns undefined if every account's tokens are accepted. The default is not the pod's own account, because the pod
 * does not call its own server.
 */
function acceptedAccount(config: Ref['kubernetes'], ownNamespace: string): OidcSettings['service_account'] {
  const name = nonEmptyText(config?.serviceAccount);
  const namespace = nonEmptyText(config?.namespace);
  if (name === undefined && namespace === undefined) return undefined;
  return { namespace: namespace ?? ownNamespace, name };
}

type InlineSettings = Omit<Inline, 'caBundleRef'> & { readonly caBundleRef?: Inline['caBundleRef'] | undefined };

function inline(config: InlineSettings, view: View, resourceUrl: string): ResolvedOIDC {
  const bundle = bundleOf(config.caBundleRef, view);
  const path = nonEmptyText(config.svcCABundlePath) ?? bundle?.path;
  const settings: OidcSettings = {
    issuer: config.issuer,
    audience: nonEmptyText(config.audience),
    jwks_url: nonEmptyText(config.jwksUrl),
    introspection_url: nonEmptyText(config.introspectionUrl),
    client_id: nonEmptyText(config.clientId),
    ca_bundle_path: nonEmptyText(path),
    auth_token_file: nonEmptyText(config.jwksAuthTokenPath),
    jwks_allow_private_ip: config.jwksAllowPrivateIP,
    protected_resource_allow_private_ip: config.protectedResourceAllowPrivateIP,
    insecure_allow_http: config.insecureAllowHTTP,
    resource_url: resourceUrl,
    scopes: advertised(config.scopes),
  };
  const needsToken = config.jwksAuthTokenPath?.startsWith(ACCOUNT) === true;
  return { settings, env: clientSecret(config), bundle, needsToken };
}

/** Returns the scopes to advertise: `openid` if the author chose no scopes. */
function advertised(chosen: readonly string[] = []): string[] {
  const scopes = chosen.filter((scope) => scope !== '');
  return scopes.length === 0 ? ['openid'] : scopes;
}

function clientSecret({ clientSecret, clientSecretRef }: InlineSettings): Env[] {
  const name = SECRET_ENV.oidcClientSecret;
  if (clientSecretRef !== undefined) return [{ name, secret: { ...clientSecretRef } }];
  return nonEmptyText(clientSecret) === undefined ? [] : [{ name, value: clientSecret ?? '' }];
}

/**
 * Reads settings in a ConfigMap: a JSON object below the key, or one entry for each setting if the key is missing.
 * ToolHive reads entries.
 */
function configMapSettings(
  ref: Ref['configMap'],
  view: View,
): Omit<Inline, 'caBundleRef'> | { readonly message: string } {
  const name = ref?.name ?? '';
  const key = ref?.key ?? 'oidc.json';
  const data = view.find('ConfigMap', name)?.data;
  const entries: JsonObject = isObject(data) ? data : {};
  const text = entries[key];
  const values = typeof text === 'string' ? parseObject(text) : entries;
  if (values === undefined) return { message: `ConfigMap ${name}: ${key} is not a JSON object` };
  const issuer = nonEmptyText(values.issuer);
  if (issuer === undefined) return { message: `ConfigMap ${name} names no issuer, neither in ${key} nor as an entry` };
  return {
    issuer,
    audience: nonEmptyText(values.audience),
    jwksUrl: nonEmptyText(values.jwksUrl),
    introspectionUrl: nonEmptyText(values.introspectionUrl),
    clientId: nonEmptyText(values.clientId),
    clientSecret: nonEmptyText(values.clientSecret),
    svcCABundlePath: nonEmptyText(values.svcCABundlePath ?? values.thvCABundlePath),
    jwksAuthTokenPath: nonEmptyText(values.jwksAuthTokenPath),
    jwksAllowPrivateIP: isTrue(values.jwksAllowPrivateIP),
    protectedResourceAllowPrivateIP: isTrue(values.protectedResourceAllowPrivateIP),
    insecureAllowHTTP: isTrue(values.insecureAllowHTTP),
    scopes: scopesOf(values.scopes),
  };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

function scopesOf(value: unknown): string[] {
  const scopes = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value.map(String) : [];
  return scopes.map((scope) => scope.trim()).filter((scope) => scope !== '');
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
