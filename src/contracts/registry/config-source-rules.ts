// Checks rules of `registries` that its schema cannot express: origins that exclude each other, invalid names,
// malformed globs.

import { addressFault } from '#std/address/address.ts';
import { parseDuration } from '#std/duration.ts';
import { parseGlob } from '#std/patterns/glob.ts';
import type { RegistryConfigFile } from './config.ts';
import { type ConfigFinding, error, urlFindings, warning } from './config-finding.ts';
import { RESERVED_NAMES } from './fields.ts';
import { FORMAT_OF_APIS } from './source.ts';

export type ConfiguredRegistry = RegistryConfigFile['registries'][number];

export const API_FORMAT = `an api source is always read in the ${FORMAT_OF_APIS} format`;

/** Interval of the service's checks for due sources. */
export const DUE_EVERY_MS = 10_000;

const ORIGINS = ['git', 'api', 'file', 'kubernetes', 'managed'] as const;

export function registryFindings(registry: ConfiguredRegistry, pointer: string): readonly ConfigFinding[] {
  return [
    ...nameFindings(registry.name, `${pointer}/name`),
    ...originFindings(registry, pointer),
    ...urlFindings(registry.api?.endpoint, `${pointer}/api/endpoint`),
    ...repositoryFindings(registry.git?.repository, `${pointer}/git/repository`),
    ...urlFindings(registry.file?.url, `${pointer}/file/url`),
    ...intervalFindings(registry, `${pointer}/syncPolicy/interval`),
    ...patternFindings(registry, `${pointer}/filter/names`),
  ];
}

function repositoryFindings(repository: string | undefined, pointer: string): readonly ConfigFinding[] {
  const fault = repository === undefined ? undefined : addressFault('repository', repository);
  return fault === undefined ? [] : [error('registry-config-url', pointer, fault)];
}

function intervalFindings({ syncPolicy, syncedBy }: ConfiguredRegistry, pointer: string): readonly ConfigFinding[] {
  if (syncPolicy === undefined) return [];
  const ms = parseDuration(syncPolicy.interval) ?? 0;
  if (ms === 0) return [error('registry-config-interval', pointer, 'must be longer than 0s')];
  if (ms >= DUE_EVERY_MS || syncedBy === 'reconciler') return [];
  return [warning('registry-config-no-effect', pointer, `counts as ${DUE_EVERY_MS / 1000}s, the shortest interval`)];
}

/** Finds malformed globs. A malformed glob matches no entry, so the registry would have no entries. */
function patternFindings({ filter }: ConfiguredRegistry, pointer: string): readonly ConfigFinding[] {
  return (['include', 'exclude'] as const).flatMap((list) =>
    (filter?.names?.[list] ?? []).flatMap((pattern, index) => {
      if (parseGlob(pattern) !== undefined) return [];
      const says = `"${pattern}" is not a glob: brackets, braces and ranges must be complete, and \\ cannot be last`;
      return [error('registry-config-glob', `${pointer}/${list}/${index}`, says)];
    }),
  );
}

function nameFindings(name: string, pointer: string): readonly ConfigFinding[] {
  if (RESERVED_NAMES.includes(name)) {
    return [error('registry-config-name-reserved', pointer, `"${name}" is a path of the service; choose another name`)];
  }
  if (name === '.' || name === '..' || /[\s\p{Cc}]/u.test(name) || !name.isWellFormed()) {
    return [error('registry-config-name-unusable', pointer, `"${name}" cannot be a part of a URL's path`)];
  }
  return [];
}

function originFindings(registry: ConfiguredRegistry, pointer: string): readonly ConfigFinding[] {
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
    ...credentialFindings(git?.auth, `${pointer}/git/auth`),
    ...(refs.length > 1
      ? [error('registry-config-exclusive', `${pointer}/git`, `${refs.join(' and ')} exclude each other`)]
      : []),
    ...(file !== undefined && (file.path === undefined) === (file.url === undefined)
      ? [error('registry-config-exclusive', `${pointer}/file`, 'exactly one of path and url is needed')]
      : []),
    ...(api !== undefined && format !== undefined && format !== FORMAT_OF_APIS
      ? [warning('registry-config-no-effect', `${pointer}/format`, `has no effect: ${API_FORMAT}`)]
      : []),
  ];
}

/**
 * Finds repeated names. A `kubernetes` entry may have the name of another entry, because ToolHive's operator always
 * adds an entry `default`.
 */
export function duplicateFindings(registries: readonly (ConfiguredRegistry | undefined)[]): readonly ConfigFinding[] {
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

/** Finds incomplete credentials: the repository would be read without credentials. */
function credentialFindings(auth: GitCredentials | undefined, pointer: string): readonly ConfigFinding[] {
  if (auth === undefined) return [];
  const { username, passwordFile, sshKeyFile, knownHostsFile } = auth;
  const hasPassword = username !== undefined && passwordFile !== undefined;
  const hasKey = sshKeyFile !== undefined && knownHostsFile !== undefined;
  if (Object.keys(auth).length === 2 && (hasPassword || hasKey)) return [];
  const what = 'needs username and passwordFile, or sshKeyFile and knownHostsFile';
  return [error('registry-config-exclusive', pointer, what)];
}

type GitCredentials = NonNullable<NonNullable<ConfiguredRegistry['git']>['auth']>;
