// The configuration of an authorization server with everything filled in and checked.

import { type AuthServerConfig, isReservedParameter } from '#contracts/auth-server-config.ts';
import { isLoopback, isWebRedirect } from '#std/address/loopback.ts';
import { parseDuration } from '#std/duration.ts';
import { Failure } from '#std/failure.ts';

type CimdBlock = NonNullable<AuthServerConfig['cimd']>;
type UpstreamBlock = AuthServerConfig['upstreams'][number];
type ClientBlock = NonNullable<UpstreamBlock['oidc_config']> | NonNullable<UpstreamBlock['oauth2_config']>;
export type UserInfoSettings = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['userinfo']>;
export type IdentityPaths = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['identity_from_token']>;
export type TokenMapping = NonNullable<NonNullable<UpstreamBlock['oauth2_config']>['token_response_mapping']>;

export interface UpstreamClient {
  readonly name: string;
  readonly clientId: string;
  /** Wins over the variable. */
  readonly clientSecretFile?: string;
  readonly clientSecretVariable?: string;
  /** PEM file to trust for requests to the provider. */
  readonly caBundleFile?: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Added to the URL that people are sent to. */
  readonly authorizationParameters: Readonly<Record<string, string>>;
}

export type UpstreamSettings =
  | (UpstreamClient & {
      readonly type: 'oidc';
      readonly issuerUrl: string;
      readonly subjectClaim?: string;
      readonly userInfo?: UserInfoSettings;
    })
  | (UpstreamClient & {
      readonly type: 'oauth2';
      readonly authorizationEndpoint: string;
      readonly tokenEndpoint: string;
      /** Who a person is: the token response says it, or an endpoint. */
      readonly identity: IdentityPaths | UserInfoSettings;
      readonly mapping?: TokenMapping;
    });

/** Documents that describe clients. */
export interface DocumentCache {
  readonly most: number;
  /** How long a document is kept that does not say it. */
  readonly unsaidMs: number;
}

/** Clients that register for a secret. */
export interface ConfidentialClients {
  /** Redirect URIs whose clients get a secret, even if they register without one. */
  readonly forced: readonly string[];
}

export interface IssuerSettings {
  readonly issuer: string;
  /** Of the issuer, without a slash at its end; empty where it has none. */
  readonly path: string;
  readonly accessMs: number;
  readonly refreshMs: number;
  readonly codeMs: number;
  readonly scopes: readonly string[];
  /** Scopes for each client in addition to those that it registered. Empty: what a client registers does not limit it. */
  readonly baselineScopes: readonly string[];
  /** Undefined: no client that registers gets a secret. */
  readonly confidential: ConfidentialClients | undefined;
  /** What clients may give as resource. */
  readonly resources: readonly string[];
  /** What the host of this server wants to find in `aud`, and what is meant where a client names no resource. */
  readonly hostAudience: string;
  /** People log in with each, in this order. */
  readonly upstreams: readonly [UpstreamSettings, ...UpstreamSettings[]];
  /** Undefined: no client is described by a document. */
  readonly documents: DocumentCache | undefined;
  readonly keyFiles: readonly string[];
  readonly secretFiles: readonly string[];
}

const MINUTE = 60_000;
/** Document 3 has the defaults; beyond these bounds nothing starts. */
const BOUNDS = {
  access_token_lifespan: [MINUTE, 24 * 60 * MINUTE],
  refresh_token_lifespan: [60 * MINUTE, 720 * 60 * MINUTE],
  auth_code_lifespan: [MINUTE / 2, 10 * MINUTE],
} as const;

/** `hostAudience`: what the host of the server accepts. Throws Failure `issuer-config-invalid`. */
export function issuerSettings(config: AuthServerConfig, hostAudience: string): IssuerSettings {
  const { signing_key_config: keys, hmac_secret_files: secretFiles = [] } = config;
  const [first, ...others] = config.upstreams.map(upstreamSettings);
  if (first === undefined) throw configInvalid('/upstreams', 'is empty: people have to log in somewhere');
  if (config.storage.type === 'redis' && config.storage.redis_config === undefined) {
    throw configInvalid('/storage/redis_config', 'is missing: /storage/type is redis');
  }
  return {
    issuer: config.issuer,
    path: issuerPath(config.issuer),
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

/** Anyone may register, so the answer with the secret must not be readable on its way. */
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
  if (allowed && !overHttp && URL.parse(issuer)?.protocol !== 'https:') {
    const right = 'needs an https issuer, or insecure_allow_confidential_over_loopback_http';
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

/** RFC 8414 section 2; plain HTTP is let be for localhost. */
function issuerPath(issuer: string): string {
  const url = URL.parse(issuer);
  if (url === null || !isProtected(url) || url.search !== '' || url.hash !== '' || issuer.endsWith('/')) {
    const right = 'must be an https URL (http on loopback) without query, fragment and a slash at its end (RFC 8414)';
    throw configInvalid('/issuer', `${right}, not ${issuer}`);
  }
  return url.pathname === '/' ? '' : url.pathname;
}

/** Nothing of loopback leaves the machine (RFC 8252 section 8.3). */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function lifespan({ token_lifespans: lifespans }: AuthServerConfig, key: keyof typeof BOUNDS): number {
  const ms = parseDuration(lifespans[key]);
  const [least, most] = BOUNDS[key];
  if (ms !== undefined && ms >= least && ms <= most) return ms;
  const right = `must be a duration between ${least / 1000} and ${most / 1000} seconds`;
  throw configInvalid(`/token_lifespans/${key}`, `${right}, not ${lifespans[key]}`);
}

function upstreamSettings(
  { name, type, ca_bundle_path: caBundleFile, oidc_config: oidc, oauth2_config: oauth2 }: UpstreamBlock,
  index: number,
): UpstreamSettings {
  const pointer = `/upstreams/${index}`;
  if (type === 'oidc' && oidc !== undefined) {
    return {
      type,
      ...upstreamClient(name, oidc, `${pointer}/oidc_config`),
      caBundleFile,
      issuerUrl: httpUrl(oidc.issuer_url, `${pointer}/oidc_config/issuer_url`),
      subjectClaim: oidc.subject_claim,
      userInfo: oidc.userinfo_override,
    };
  }
  if (type === 'oauth2' && oauth2 !== undefined) {
    return {
      type,
      ...upstreamClient(name, oauth2, `${pointer}/oauth2_config`),
      caBundleFile,
      authorizationEndpoint: httpUrl(oauth2.authorization_endpoint, `${pointer}/oauth2_config/authorization_endpoint`),
      tokenEndpoint: httpUrl(oauth2.token_endpoint, `${pointer}/oauth2_config/token_endpoint`),
      identity: identitySource(oauth2, `${pointer}/oauth2_config`),
      mapping: oauth2.token_response_mapping,
    };
  }
  throw configInvalid(pointer, `is of type ${type}, and the block of that type is missing`);
}

function identitySource(
  { identity_from_token: paths, userinfo }: NonNullable<UpstreamBlock['oauth2_config']>,
  pointer: string,
): IdentityPaths | UserInfoSettings {
  const found = paths ?? userinfo;
  if (found !== undefined) return found;
  throw configInvalid(`${pointer}/userinfo`, 'is missing, and so is identity_from_token: nothing says who a person is');
}

function upstreamClient(name: string, block: ClientBlock, pointer: string): UpstreamClient {
  const { additional_authorization_params: more = {} } = block;
  const reserved = Object.keys(more).find(isReservedParameter);
  if (reserved !== undefined) {
    throw configInvalid(
      `${pointer}/additional_authorization_params`,
      `sets ${reserved}, which belongs to the protocol`,
    );
  }
  return {
    name,
    clientId: block.client_id,
    clientSecretFile: block.client_secret_file,
    clientSecretVariable: block.client_secret_env_var,
    redirectUri: block.redirect_uri,
    scopes: block.scopes ?? [],
    authorizationParameters: more,
  };
}

function httpUrl(text: string, pointer: string): string {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return text;
  throw configInvalid(pointer, `must be an http or https URL, not ${text}`);
}

export function configInvalid(pointer: string, what: string): Failure {
  return new Failure('issuer-config-invalid', `${pointer} ${what}`, { data: { pointer } });
}
