// Renders the configuration of an embedded authorization server for a pod, with Secrets and trusted certificates as
// files.

import { AUTH_SERVER_DIRECTORY, AUTH_SERVER_FILES, type AuthServerConfig } from '#contracts/auth-server/config.ts';
import type { JsonObject } from '#std/json.ts';
import type { View } from '../../kind.ts';
import type { Mounted } from '../../pods/pod.ts';
import { type Bundle, bundleOf } from '../ca-bundle.ts';
import type { AuthServer } from './providers.ts';
import type { SecretKeyName } from './references.ts';
import { authServerScopes } from './scopes.ts';
import { trustConfig } from './trust-config.ts';
import { upstreamConfig } from './upstream-config.ts';

type Redis = NonNullable<AuthServer['storage']['redis']>;

export interface AuthServerParts {
  readonly config: AuthServerConfig;
  readonly mounted: readonly Mounted[];
  readonly bundles: readonly Bundle[];
}

export interface AuthServerHost {
  readonly name: string;
  readonly namespace: string;
  /** URL by which clients know the resource for which tokens are issued. */
  readonly resourceUrl: string;
  /** Second audience that clients may request, in addition to the URL. */
  readonly audience: string | undefined;
  /** Scopes that the resource advertises, as computed for the authorization server. */
  readonly scopes: readonly string[];
}

export function authServerParts(server: AuthServer, host: AuthServerHost, view: View): AuthServerParts {
  const bundles = server.upstreamProviders.flatMap(({ caBundleRef }) => bundleOf(caBundleRef, view) ?? []);
  return { config: configOf(server, host, view), mounted: mountedOf(server), bundles };
}

function configOf(server: AuthServer, host: AuthServerHost, view: View): AuthServerConfig {
  const { tokenLifespans, hmacSecretRefs = [], upstreamProviders } = server;
  return {
    schema_version: 'v0.1.0',
    issuer: server.issuer,
    insecure_allow_http: server.insecureAllowHTTP,
    authorization_endpoint_base_url: server.authorizationEndpointBaseUrl,
    ...signingKeys(server.signingKeySecretRefs ?? []),
    hmac_secret_files:
      hmacSecretRefs.length === 0
        ? undefined
        : hmacSecretRefs.map((_, index) => inDirectory(AUTH_SERVER_FILES.hmac(index))),
    token_lifespans: {
      access_token_lifespan: tokenLifespans.accessTokenLifespan,
      refresh_token_lifespan: tokenLifespans.refreshTokenLifespan,
      auth_code_lifespan: tokenLifespans.authCodeLifespan,
    },
    upstreams: upstreamProviders.map((provider) => {
      return upstreamConfig(provider, host.resourceUrl, bundleOf(provider.caBundleRef, view));
    }),
    cimd: server.cimd && {
      enabled: server.cimd.enabled,
      cache_max_size: server.cimd.cacheMaxSize,
      cache_fallback_ttl: server.cimd.cacheFallbackTtl,
    },
    primary_upstream_provider: server.primaryUpstreamProvider,
    disable_upstream_token_injection: server.disableUpstreamTokenInjection,
    scopes_supported: authServerScopes(host.scopes),
    baseline_client_scopes: server.baselineClientScopes,
    allow_confidential_client_registration: server.allowConfidentialClientRegistration,
    force_confidential_redirect_uris: server.forceConfidentialRedirectUris,
    insecure_allow_confidential_over_loopback_http: server.insecureAllowConfidentialOverLoopbackHTTP,
    allowed_audiences: [...new Set([host.resourceUrl, host.audience ?? host.resourceUrl])],
    ...trustConfig(server),
    storage: storage(server.storage, host),
  };
}

function signingKeys(refs: readonly SecretKeyName[]): Pick<AuthServerConfig, 'signing_key_config'> {
  const [signing, ...fallback] = refs.map((_, index) => AUTH_SERVER_FILES.signingKey(index));
  if (signing === undefined) return {};
  return {
    signing_key_config: {
      key_dir: inDirectory(AUTH_SERVER_FILES.keys),
      signing_key_file: signing,
      fallback_key_files: fallback.length === 0 ? undefined : fallback,
    },
  };
}

function storage({ type, redis }: AuthServer['storage'], host: AuthServerHost): AuthServerConfig['storage'] {
  if (redis === undefined) return { type };
  const { sentinelConfig, tls, sentinelTls } = redis;
  return {
    type,
    redis_config: {
      addr: redis.addr,
      cluster_mode: redis.clusterMode,
      sentinel_config: sentinelConfig && {
        master_name: sentinelConfig.masterName,
        sentinel_addrs: sentinels(sentinelConfig, host.namespace),
        db: sentinelConfig.db,
      },
      auth_type: 'aclUser',
      acl_user_config: {
        username_file: redis.aclUserConfig.usernameSecretRef && inDirectory(AUTH_SERVER_FILES.redisUsername),
        password_file: inDirectory(AUTH_SERVER_FILES.redisPassword),
      },
      key_prefix: `thv:auth:{${host.namespace}:${host.name}}:`,
      dial_timeout: redis.dialTimeout,
      read_timeout: redis.readTimeout,
      write_timeout: redis.writeTimeout,
      tls: tls && tlsConfig(tls, AUTH_SERVER_FILES.redisCA),
      sentinel_tls: sentinelTls && tlsConfig(sentinelTls, AUTH_SERVER_FILES.sentinelCA),
    },
  };
}

function sentinels(
  { sentinelAddrs, sentinelService }: NonNullable<Redis['sentinelConfig']>,
  namespace: string,
): string[] {
  if (sentinelService === undefined) return sentinelAddrs ?? [];
  const { name, namespace: own = namespace, port } = sentinelService;
  return [`${name}.${own}.svc.cluster.local:${port}`];
}

function tlsConfig({ insecureSkipVerify, caCertSecretRef }: NonNullable<Redis['tls']>, file: string) {
  return {
    insecure_skip_verify: insecureSkipVerify,
    ca_cert_file: caCertSecretRef && inDirectory(file),
  };
}

function inDirectory(file: string): string {
  return `${AUTH_SERVER_DIRECTORY}/${file}`;
}

function clientSecrets({ upstreamProviders }: AuthServer): readonly JsonObject[] {
  return upstreamProviders.flatMap(({ name, oidcConfig, oauth2Config }) => {
    const secret = (oidcConfig ?? oauth2Config)?.clientSecretRef;
    const token = oauth2Config?.dcrConfig?.initialAccessTokenRef;
    return [
      ...(secret === undefined ? [] : [source(secret, AUTH_SERVER_FILES.upstreamClientSecret(name))]),
      ...(token === undefined ? [] : [source(token, AUTH_SERVER_FILES.initialAccessToken(name))]),
    ];
  });
}

function delegateSecrets({ delegateClients = [] }: AuthServer): readonly JsonObject[] {
  return delegateClients.map(({ clientSecretRef }, index) => {
    return source(clientSecretRef, AUTH_SERVER_FILES.delegateSecret(index));
  });
}

function redisUser(redis: Redis | undefined): readonly JsonObject[] {
  if (redis === undefined) return [];
  const { usernameSecretRef, passwordSecretRef } = redis.aclUserConfig;
  return [
    ...(usernameSecretRef === undefined ? [] : [source(usernameSecretRef, AUTH_SERVER_FILES.redisUsername)]),
    source(passwordSecretRef, AUTH_SERVER_FILES.redisPassword),
  ];
}

const VOLUME = 'authserver';
const OWNER_READS = 0o400;

/**
 * Mounts all Secrets in one volume without subPath, so that files in a running pod follow changes of Secrets. Keys can
 * then be rotated.
 */
function mountedOf(server: AuthServer): Mounted[] {
  const { signingKeySecretRefs = [], hmacSecretRefs = [] } = server;
  const { redis } = server.storage;
  const masterCA = redis?.tls?.caCertSecretRef;
  const sentinelCA = redis?.sentinelTls?.caCertSecretRef;
  const sources = [
    ...signingKeySecretRefs.map((ref, index) => source(ref, `keys/${AUTH_SERVER_FILES.signingKey(index)}`)),
    ...hmacSecretRefs.map((ref, index) => source(ref, AUTH_SERVER_FILES.hmac(index))),
    ...clientSecrets(server),
    ...delegateSecrets(server),
    ...redisUser(redis),
    ...(masterCA === undefined ? [] : [source(masterCA, AUTH_SERVER_FILES.redisCA)]),
    ...(sentinelCA === undefined ? [] : [source(sentinelCA, AUTH_SERVER_FILES.sentinelCA)]),
  ];
  if (sources.length === 0) return [];
  return [
    {
      volume: { name: VOLUME, projected: { defaultMode: OWNER_READS, sources } },
      mount: { name: VOLUME, mountPath: AUTH_SERVER_DIRECTORY, readOnly: true },
    },
  ];
}

function source({ name, key }: SecretKeyName, path: string): JsonObject {
  return { secret: { name, items: [{ key, path }] } };
}
