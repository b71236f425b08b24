// Builds the validated settings of an authorization server, with defaults.

import type { AuthServerConfig } from '#contracts/auth-server/config.ts';
import { isWebRedirect } from '#std/address/loopback.ts';
import { parseDuration } from '#std/duration.ts';
import { configInvalid, isProtected } from './config-fault.ts';
import { type DelegateClient, delegateClients, type TrustedIssuer, trustedIssuers } from './grants/settings.ts';
import { type UpstreamSettings, upstreamSettings } from './upstream/settings.ts';

type CimdBlock = NonNullable<AuthServerConfig['cimd']>;
export interface DocumentCache {
  readonly most: number;
  /** Time in milliseconds for which a document without cache headers is cached. */
  readonly unsaidMs: number;
}

export interface ConfidentialClients {
  /** Redirect URIs whose clients get a secret even if they do not request a secret. */
  readonly forced: readonly string[];
}

export interface IssuerSettings {
  readonly issuer: string;
  /** Path of the issuer without a trailing slash. Empty if the issuer has no path. */
  readonly path: string;
  /** Base URL of the authorization endpoint and the pages for browsers, without a trailing slash. */
  readonly pagesUrl: string;
  /** Path of `pagesUrl`. Empty if the URL has no path. */
  readonly pagesPath: string;
  readonly accessMs: number;
  readonly refreshMs: number;
  readonly codeMs: number;
  readonly scopes: readonly string[];
  /**
   * Scopes for every client, in addition to its registered scopes. If empty, registered scopes do not limit clients.
   */
  readonly baselineScopes: readonly string[];
  /** If undefined, registered clients get no secrets. */
  readonly confidential: ConfidentialClients | undefined;
  /** Allowed values of the parameter `resource`. */
  readonly resources: readonly string[];
  /** Audience that the host of this server requires in `aud`. Default if a client requests no resource. */
  readonly hostAudience: string;
  /** Providers. People log in at every provider, in this order. */
  readonly upstreams: readonly [UpstreamSettings, ...UpstreamSettings[]];
  /** If undefined, client documents are not supported. */
  readonly documents: DocumentCache | undefined;
  /** Other issuers whose tokens this server accepts. */
  readonly trusted: readonly TrustedIssuer[];
  readonly delegates: readonly DelegateClient[];
  readonly keyFiles: readonly string[];
  readonly secretFiles: readonly string[];
}

const MINUTE = 60_000;
/** Allowed range of each lifetime in milliseconds. A value outside the range prevents the start. */
const BOUNDS = {
  access_token_lifespan: [MINUTE, 24 * 60 * MINUTE],
  refresh_token_lifespan: [60 * MINUTE, 720 * 60 * MINUTE],
  auth_code_lifespan: [MINUTE / 2, 10 * MINUTE],
} as const;

/**
 * Returns the settings. `hostAudience` is the audience that the host of the server accepts. Throws Failure
 * `issuer-config-invalid`.
 */
export function issuerSettings(config: AuthServerConfig, hostAudience: string): IssuerSettings {
  const { signing_key_config: keys, hmac_secret_files: secretFiles = [] } = config;
  const { authorization_endpoint_base_url: pagesUrl = config.issuer } = config;
  const [first, ...others] = config.upstreams.map(upstreamSettings);
  if (first === undefined) throw configInvalid('/upstreams', 'is empty: people have to log in somewhere');
  if (config.storage.type === 'redis' && config.storage.redis_config === undefined) {
    throw configInvalid('/storage/redis_config', 'is missing: /storage/type is redis');
  }
  return {
    issuer: config.issuer,
    path: issuerPath(config, '/issuer', config.issuer),
    pagesUrl,
    pagesPath: issuerPath(config, '/authorization_endpoint_base_url', pagesUrl),
    accessMs: lifespan(config, 'access_token_lifespan'),
    refreshMs: lifespan(config, 'refresh_token_lifespan'),
    codeMs: lifespan(config, 'auth_code_lifespan'),
    scopes: config.scopes_supported,
    baselineScopes: baselineScopes(config),
    confidential: confidentialClients(config),
    resources: config.allowed_audiences,
    hostAudience,
    upstreams: [first, ...others],
    documents: documentCache(config.cimd ?? { enabled: true }),
    trusted: trustedIssuers(config),
    delegates: delegateClients(config),
    keyFiles:
      keys === undefined
        ? []
        : [keys.signing_key_file, ...(keys.fallback_key_files ?? [])].map((file) => `${keys.key_dir}/${file}`),
    secretFiles,
  };
}

function baselineScopes({ baseline_client_scopes: baseline = [], scopes_supported: scopes }: AuthServerConfig) {
  const unknown = baseline.find((scope) => !scopes.includes(scope));
  if (unknown === undefined) return baseline;
  throw configInvalid('/baseline_client_scopes', `names ${unknown}, which is not in /scopes_supported`);
}

/**
 * Returns the settings for clients with secrets. Any client may register, so the answer with the secret needs https.
 * http on loopback is allowed if the settings say so.
 */
function confidentialClients({
  issuer,
  allow_confidential_client_registration: allowed = false,
  force_confidential_redirect_uris: forced = [],
  insecure_allow_confidential_over_loopback_http: overHttp = false,
}: AuthServerConfig): ConfidentialClients | undefined {
  const open = forced.find((uri) => !isWebRedirect(uri));
  if (open !== undefined) {
    throw configInvalid('/force_confidential_redirect_uris', `must name https URIs outside loopback, not ${open}`);
  }
  if (!allowed && forced.length > 0) {
    throw configInvalid('/force_confidential_redirect_uris', 'needs allow_confidential_client_registration');
  }
  const url = URL.parse(issuer);
  const isSafe = url?.protocol === 'https:' || (overHttp && url !== null && isProtected(url));
  if (allowed && !isSafe) {
    const right = 'needs an https issuer, or on loopback insecure_allow_confidential_over_loopback_http';
    throw configInvalid('/allow_confidential_client_registration', `${right}: secrets would be sent in the clear`);
  }
  return allowed ? { forced } : undefined;
}

function documentCache({
  enabled,
  cache_max_size: most = 1000,
  cache_fallback_ttl: ttl = '1h',
}: CimdBlock): DocumentCache | undefined {
  const unsaidMs = parseDuration(ttl);
  if (unsaidMs === undefined) throw configInvalid('/cimd/cache_fallback_ttl', `must be a duration, not ${ttl}`);
  return enabled ? { most, unsaidMs } : undefined;
}

/** Validates a base URL (RFC 8414 section 2), and returns its path. http needs loopback or `insecure_allow_http`. */
function issuerPath(
  { insecure_allow_http: anyHttp = false }: Pick<AuthServerConfig, 'insecure_allow_http'>,
  pointer: string,
  base: string,
): string {
  const url = URL.parse(base);
  const isAllowed = url !== null && (isProtected(url) || (anyHttp && url.protocol === 'http:'));
  if (!isAllowed || url.search !== '' || url.hash !== '' || base.endsWith('/')) {
    const right =
      'must be an https URL (http on loopback, or with insecure_allow_http) without query, fragment and a slash at its end (RFC 8414)';
    throw configInvalid(pointer, `${right}, not ${base}`);
  }
  return url.pathname === '/' ? '' : url.pathname;
}

function lifespan({ token_lifespans: lifespans }: AuthServerConfig, key: keyof typeof BOUNDS): number {
  const ms = parseDuration(lifespans[key]);
  const [least, most] = BOUNDS[key];
  if (ms !== undefined && ms >= least && ms <= most) return ms;
  const right = `must be a duration between ${least / 1000} and ${most / 1000} seconds`;
  throw configInvalid(`/token_lifespans/${key}`, `${right}, not ${lifespans[key]}`);
}
