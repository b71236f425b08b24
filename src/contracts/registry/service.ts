// Defines the settings of the registry service: the checked configuration, with defaults, and with durations in
// milliseconds.

import assert from 'node:assert/strict';
import { parseDuration } from '#std/duration.ts';
import { DATABASE_DEFAULTS, type SslMode } from '../database-fields.ts';
import type { RegistryConfigFile } from './config.ts';
import { OAUTH_DEFAULTS } from './fields.ts';
import { DEFAULT_FORMAT, FORMAT_OF_APIS, type RegistrySource, type ServiceOrigin } from './source.ts';

export interface ServedRegistry extends RegistrySource<ServiceOrigin | { readonly type: 'kubernetes' | 'managed' }> {
  /**
   * `reconciler`: a reconciler writes the entries of the registry into the store. `service`: the service syncs its
   * source.
   */
  readonly syncedBy: 'service' | 'reconciler';
}

interface RegistryDatabase {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly migrationUser: string;
  readonly database: string;
  readonly sslMode: SslMode;
  readonly caFile?: string;
  readonly passFile?: string;
  readonly maxOpenConns: number;
  readonly maxIdleConns: number;
  readonly connMaxLifetimeMs: number;
}

/** Settings in the form that the authentication code in `auth/` requires. */
export interface OAuthConfig {
  readonly resourceUrl: string;
  readonly realm: string;
  readonly scopesSupported: readonly string[];
  readonly resourceDocumentation?: string;
  /** True if readers need the scope mcp-registry:read, and manual syncs the scope mcp-registry:write. */
  readonly enforceScopes: boolean;
  readonly providers: readonly ProviderConfig[];
}

export interface ProviderConfig {
  readonly name: string;
  readonly issuerUrl: string;
  readonly audience: string;
  readonly jwksUrl?: string;
  readonly tokenTypes?: readonly string[];
  readonly introspectionUrl?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  readonly caCertPath?: string;
  readonly authTokenFile?: string;
  readonly allowPrivateIP: boolean;
}

type AuthConfig =
  | {
      readonly mode: 'anonymous';
      /** File with the token for manual syncs. If not set, manual syncs are refused. */
      readonly syncTokenFile?: string;
    }
  | { readonly mode: 'oauth'; readonly publicPaths: readonly string[]; readonly oauth: OAuthConfig };

interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

interface ServiceLimits {
  /** Maximum number of requests from one client address. If not set, the number is not limited. */
  readonly requestsPerMinute?: number;
  /** IP addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly requestTimeoutMs: number;
  /** Milliseconds during which the service accepts requests after the signal to stop. */
  readonly shutdownGraceMs: number;
  readonly headerBytes: number;
  readonly connections: number;
}

/** Settings for connections to sources. */
interface ServiceOutbound {
  readonly allowPrivate: readonly string[];
  readonly allowFiles: boolean;
  readonly caFile?: string;
}

export interface RegistryConfig {
  /** Name of the MCPRegistry, which is the second part of keys in the store, after `namespace`. */
  readonly registryName: string;
  readonly namespace: string;
  /** Title of the registry on pages. */
  readonly displayName?: string;
  readonly listen: ListenAddress;
  /** Not set if metrics are not served. */
  readonly metrics?: ListenAddress;
  readonly limits: ServiceLimits;
  readonly registries: readonly ServedRegistry[];
  readonly outbound: ServiceOutbound;
  /** Folder for clones of Git repositories. If not set, a temporary folder is used. */
  readonly dataDir?: string;
  readonly database: RegistryDatabase;
  readonly auth: AuthConfig;
  /** True if the web page is served. */
  readonly page: boolean;
  /** True if readers see the running servers of the namespace. */
  readonly running: boolean;
}

type RegistryEntry = RegistryConfigFile['registries'][number];

/** Fills in defaults. The file must be valid. */
export function settleConfig(file: RegistryConfigFile): RegistryConfig {
  return {
    registryName: file.registryName ?? 'default',
    namespace: file.namespace ?? 'default',
    displayName: file.displayName,
    listen: { host: file.listen?.host ?? '0.0.0.0', port: file.listen?.port ?? 8080 },
    metrics: file.metrics && { host: file.metrics.host ?? '0.0.0.0', port: file.metrics.port },
    limits: settleLimits(file.limits ?? {}),
    registries: settleRegistries(file.registries),
    outbound: { allowPrivate: [], allowFiles: false, ...file.outbound },
    dataDir: file.dataDir,
    database: settleDatabase(file.database ?? {}),
    auth: settleAuth(file.auth ?? {}),
    page: file.page !== 'disabled',
    running: (file.running ?? (file.auth?.mode === 'anonymous' ? 'disabled' : 'enabled')) === 'enabled',
  };
}

function settleLimits(limits: NonNullable<RegistryConfigFile['limits']>): ServiceLimits {
  const { requestsPerMinute } = limits;
  return {
    requestsPerMinute,
    trustedProxies: limits.trustedProxies ?? [],
    requestTimeoutMs: milliseconds(limits.requestTimeout ?? '10s'),
    shutdownGraceMs: milliseconds(limits.shutdownGrace ?? '5s'),
    headerBytes: limits.headerBytes ?? 32_768,
    connections: limits.connections ?? 10_000,
  };
}

/** Leaves out a `kubernetes` entry if another entry has its name. */
function settleRegistries(entries: readonly RegistryEntry[]): readonly ServedRegistry[] {
  const names = new Set(entries.filter(({ kubernetes }) => kubernetes === undefined).map(({ name }) => name));
  return entries
    .filter(({ name, kubernetes }) => kubernetes === undefined || !names.has(name))
    .map((entry) => ({
      name: entry.name,
      format: entry.api === undefined ? (entry.format ?? DEFAULT_FORMAT) : FORMAT_OF_APIS,
      origin: settleOrigin(entry),
      syncedBy: entry.syncedBy ?? 'service',
      intervalMs: entry.syncPolicy && milliseconds(entry.syncPolicy.interval),
      filter: {
        names: { include: entry.filter?.names?.include ?? [], exclude: entry.filter?.names?.exclude ?? [] },
        tags: { include: entry.filter?.tags?.include ?? [], exclude: entry.filter?.tags?.exclude ?? [] },
      },
    }));
}

function settleOrigin({ git, api, file, kubernetes }: RegistryEntry): ServedRegistry['origin'] {
  if (git !== undefined) return { type: 'git', ...git, path: git.path ?? 'registry.json' };
  if (api !== undefined) return { type: 'api', endpoint: api.endpoint };
  if (file?.path !== undefined) return { type: 'file', path: file.path };
  if (file?.url !== undefined) return { type: 'url', url: file.url, timeoutMs: milliseconds(file.timeout ?? '30s') };
  return { type: kubernetes === undefined ? 'managed' : 'kubernetes' };
}

function settleDatabase(database: NonNullable<RegistryConfigFile['database']>): RegistryDatabase {
  const { connMaxLifetime, maxMetaSize: _unused, ...rest } = { ...DATABASE_DEFAULTS, ...database };
  return { ...rest, connMaxLifetimeMs: milliseconds(connMaxLifetime) };
}

/** The mode is oauth if the file names none. Rules have already refused mode oauth without providers. */
function settleAuth({ mode, oauth, publicPaths, syncTokenFile }: NonNullable<RegistryConfigFile['auth']>): AuthConfig {
  if (mode === 'anonymous') return { mode, syncTokenFile };
  assert(oauth?.providers !== undefined, 'mode oauth has providers');
  const { publicPaths: oauthPublicPaths, providers, realm, scopesSupported, enforceScopes, ...rest } = oauth;
  return {
    mode: 'oauth',
    publicPaths: [...new Set([...(publicPaths ?? []), ...(oauthPublicPaths ?? [])])],
    oauth: {
      ...rest,
      realm: realm ?? OAUTH_DEFAULTS.realm,
      scopesSupported: scopesSupported ?? OAUTH_DEFAULTS.scopesSupported,
      enforceScopes: enforceScopes ?? false,
      providers: providers.map((provider) => ({ ...provider, allowPrivateIP: provider.allowPrivateIP ?? false })),
    },
  };
}

function milliseconds(duration: string): number {
  const parsed = parseDuration(duration);
  assert(parsed !== undefined, 'the schema admits durations only');
  return parsed;
}
