// What the schema of the registry configuration cannot say: fields that exclude or need each other, names that cannot be
// served, settings without effect. Knows nothing about files and positions.

import { parseDuration } from '../std/duration.ts';
import { parseGlob } from '../std/glob.ts';
import type { ContractCode } from './codes.ts';
import type { RegistryConfigFile } from './registry-config.ts';

/** One mistake, at a JSON pointer into the file. */
export interface ConfigFinding {
  readonly code: ContractCode;
  readonly severity: 'error' | 'warning';
  readonly pointer: string;
  readonly message: string;
}

type Registry = RegistryConfigFile['registries'][number];
type Auth = NonNullable<RegistryConfigFile['auth']>;
type OAuth = NonNullable<Auth['oauth']>;
type Provider = NonNullable<OAuth['providers']>[number];

const ORIGINS = ['git', 'api', 'file', 'kubernetes', 'managed'] as const;

/** First segments of paths that are not registries (registry.md section 0). */
export const RESERVED_NAMES: readonly string[] = [
  'health',
  'readiness',
  'version',
  'openapi.json',
  'openapi.yaml',
  '.well-known',
  'v1',
  'registry',
  'extension',
  'metrics',
];

/** A file, or as much of one as fits the schema: what does not is undefined, so that places stay what they are. */
export interface SoundConfig extends Omit<RegistryConfigFile, 'registries' | 'auth'> {
  readonly registries?: readonly (Registry | undefined)[];
  readonly auth?: Omit<Auth, 'oauth'> & { readonly oauth?: SoundOAuth | undefined };
}

type SoundOAuth = Omit<OAuth, 'providers' | 'resourceUrl'> & {
  readonly resourceUrl?: string;
  readonly providers?: readonly (Provider | undefined)[];
};

export function configFindings(file: SoundConfig): readonly ConfigFinding[] {
  const registries = file.registries ?? [];
  return [
    ...registries.flatMap((registry, index) =>
      registry === undefined ? [] : registryFindings(registry, `/registries/${index}`),
    ),
    ...duplicateFindings(registries),
    ...authFindings(file),
    ...listenFindings(file),
    ...effectFindings(file, registries),
  ];
}

function registryFindings(registry: Registry, pointer: string): readonly ConfigFinding[] {
  return [
    ...nameFindings(registry.name, `${pointer}/name`),
    ...originFindings(registry, pointer),
    ...urlFindings(registry.api?.endpoint, `${pointer}/api/endpoint`),
    ...urlFindings(registry.file?.url, `${pointer}/file/url`),
    ...intervalFindings(registry, `${pointer}/syncPolicy/interval`),
    ...patternFindings(registry, `${pointer}/filter/names`),
  ];
}

function intervalFindings({ syncPolicy }: Registry, pointer: string): readonly ConfigFinding[] {
  if (syncPolicy === undefined || parseDuration(syncPolicy.interval) !== 0) return [];
  return [error('registry-config-interval', pointer, 'must be longer than 0s')];
}

/** A malformed pattern lets nothing through: the registry would be served empty. */
function patternFindings({ filter }: Registry, pointer: string): readonly ConfigFinding[] {
  return (['include', 'exclude'] as const).flatMap((list) =>
    (filter?.names?.[list] ?? []).flatMap((pattern, index) => {
      if (parseGlob(pattern) !== undefined) return [];
      const says = `"${pattern}" is no glob: brackets, braces and ranges must be whole, and \\ cannot be last`;
      return [error('registry-config-glob', `${pointer}/${list}/${index}`, says)];
    }),
  );
}

function nameFindings(name: string, pointer: string): readonly ConfigFinding[] {
  if (RESERVED_NAMES.includes(name)) {
    return [error('registry-config-name-reserved', pointer, `"${name}" is a path of the service; choose another name`)];
  }
  if (name === '.' || name === '..' || /[\s\p{Cc}]/u.test(name)) {
    return [error('registry-config-name-unusable', pointer, `"${name}" cannot be a part of a URL's path`)];
  }
  return [];
}

function originFindings(registry: Registry, pointer: string): readonly ConfigFinding[] {
  const { git, api, file, format } = registry;
  const given = ORIGINS.filter((origin) => registry[origin] !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none' : given.join(' and ');
    return [
      error('registry-config-origin', pointer, `exactly one of ${ORIGINS.join(', ')} is needed; there is ${found}`),
    ];
  }
  const refs = (['branch', 'tag', 'commit'] as const).filter((ref) => git?.[ref] !== undefined);
  return [
    ...(refs.length > 1
      ? [error('registry-config-exclusive', `${pointer}/git`, `${refs.join(' and ')} exclude each other`)]
      : []),
    ...(file !== undefined && (file.path === undefined) === (file.url === undefined)
      ? [error('registry-config-exclusive', `${pointer}/file`, 'exactly one of path and url is needed')]
      : []),
    ...(api !== undefined && format === 'toolhive'
      ? [error('registry-config-exclusive', `${pointer}/format`, 'an api source is always read in the upstream format')]
      : []),
  ];
}

/** The operator of the existing platform puts a `kubernetes` entry named `default` first; a real one may follow. */
function duplicateFindings(registries: readonly (Registry | undefined)[]): readonly ConfigFinding[] {
  const seen = new Set<string>();
  return registries.flatMap((registry, index) => {
    if (registry === undefined || registry.kubernetes !== undefined) return [];
    if (!seen.has(registry.name)) {
      seen.add(registry.name);
      return [];
    }
    return [
      error(
        'registry-config-name-duplicate',
        `/registries/${index}/name`,
        `another registry is named "${registry.name}"`,
      ),
    ];
  });
}

function authFindings({ auth }: SoundConfig): readonly ConfigFinding[] {
  if (auth?.mode === 'anonymous') return publicPathFindings(auth.publicPaths, '/auth/publicPaths');
  const { oauth } = auth ?? {};
  if (oauth?.providers === undefined || oauth.providers.length === 0) {
    const why = auth?.mode === undefined ? 'no auth.mode is given, so the mode is oauth, which' : 'mode oauth';
    const what = `${why} needs auth.oauth with a resourceUrl and at least one provider; for a service without access control write auth: {mode: anonymous}`;
    return [error('registry-config-providers-missing', auth === undefined ? '' : '/auth', what)];
  }
  return [
    ...publicPathFindings(auth?.publicPaths, '/auth/publicPaths'),
    ...publicPathFindings(oauth.publicPaths, '/auth/oauth/publicPaths'),
    ...urlFindings(oauth.resourceUrl, '/auth/oauth/resourceUrl'),
    ...urlFindings(oauth.resourceDocumentation, '/auth/oauth/resourceDocumentation'),
    ...scopeFindings(oauth),
    ...oauth.providers.flatMap((provider, index) =>
      provider === undefined ? [] : providerFindings(provider, `/auth/oauth/providers/${index}`),
    ),
  ];
}

/** Clients ask for the scopes that the discovery document names. */
function scopeFindings({ enforceScopes, scopesSupported }: SoundOAuth): readonly ConfigFinding[] {
  if (enforceScopes !== true || scopesSupported === undefined) return [];
  const missing = ['mcp-registry:read', 'mcp-registry:write'].filter((scope) => !scopesSupported.includes(scope));
  if (missing.length === 0) return [];
  const what = `clients are not told of ${missing.join(' and ')}, which enforceScopes asks them for`;
  return [warning('registry-config-scopes', '/auth/oauth/scopesSupported', what)];
}

function listenFindings({ listen, metrics, limits, outbound }: SoundConfig): readonly ConfigFinding[] {
  const port = listen?.port ?? 8080;
  return [
    ...(metrics?.port === port && port !== 0
      ? [error('registry-config-exclusive', '/metrics/port', 'the registry itself listens on this port')]
      : []),
    ...rangeFindings(limits?.trustedProxies, '/limits/trustedProxies'),
    ...rangeFindings(outbound?.allowPrivate, '/outbound/allowPrivate'),
  ];
}

function rangeFindings(ranges: readonly string[] | undefined, pointer: string): readonly ConfigFinding[] {
  return (ranges ?? []).flatMap((range, index) =>
    isAddressRange(range)
      ? []
      : [error('registry-config-address', `${pointer}/${index}`, `"${range}" is no address or CIDR range`)],
  );
}

function isAddressRange(range: string): boolean {
  const [address = '', bits] = range.split('/');
  const isV6 = address.includes(':');
  // The URL parser reads `1.2` as an address too; all four parts are meant here.
  if (!isV6 && address.split('.').length !== 4) return false;
  return URL.canParse(isV6 ? `http://[${address}]/` : `http://${address}/`) && Number(bits ?? 0) <= (isV6 ? 128 : 32);
}

function providerFindings(provider: Provider, pointer: string): readonly ConfigFinding[] {
  const secretAlone = provider.clientSecretFile !== undefined && provider.clientId === undefined;
  return [
    ...urlFindings(provider.issuerUrl, `${pointer}/issuerUrl`),
    ...urlFindings(provider.jwksUrl, `${pointer}/jwksUrl`),
    ...urlFindings(provider.introspectionUrl, `${pointer}/introspectionUrl`),
    ...(secretAlone
      ? [warning('registry-config-no-effect', `${pointer}/clientSecretFile`, 'has no effect without clientId')]
      : []),
  ];
}

function publicPathFindings(paths: readonly string[] | undefined, pointer: string): readonly ConfigFinding[] {
  return (paths ?? []).flatMap((path, index) => {
    const at = `${pointer}/${index}`;
    if (!path.startsWith('/')) return [error('registry-config-public-path', at, `"${path}" must start with /`)];
    if (/^\/+$/.test(path)) return [warning('registry-config-public-path', at, '"/" makes every path public')];
    return [];
  });
}

function urlFindings(url: string | undefined, pointer: string): readonly ConfigFinding[] {
  if (url === undefined) return [];
  const parsed = URL.parse(url);
  if (parsed === null) return [error('registry-config-url', pointer, 'is not a URL')];
  if (parsed.username !== '' || parsed.password !== '') {
    return [
      error('registry-config-url', pointer, 'must not hold a user name or password; secrets are read from files'),
    ];
  }
  if (parsed.hash !== '') return [error('registry-config-url', pointer, 'must not have a fragment')];
  return [];
}

function effectFindings(file: SoundConfig, registries: readonly (Registry | undefined)[]): readonly ConfigFinding[] {
  return [
    ...registries.flatMap((registry, index) =>
      registry?.kubernetes === undefined && registry?.managed === undefined
        ? []
        : [
            warning(
              'registry-config-no-effect',
              `/registries/${index}`,
              `nothing is read for "${registry.name}"; it is served empty`,
            ),
          ],
    ),
    ...(file.telemetry === undefined ? [] : [warning('registry-config-no-effect', '/telemetry', 'has no effect')]),
    ...(file.database?.maxMetaSize === undefined
      ? []
      : [warning('registry-config-no-effect', '/database/maxMetaSize', 'has no effect')]),
  ];
}

function error(code: ContractCode, pointer: string, message: string): ConfigFinding {
  return { code, severity: 'error', pointer, message };
}

function warning(code: ContractCode, pointer: string, message: string): ConfigFinding {
  return { code, severity: 'warning', pointer, message };
}
