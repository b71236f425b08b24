// Converts the configuration in `configYAML` into the form of the fields `registries`, `databaseConfig` and
// `authConfig`. Finds the Secret, ConfigMap or claim in the resource's volumes for each file that the configuration
// names.

import { DATABASE_DEFAULTS } from '#contracts/database-fields.ts';
import { CONFIG_YAML_SSL_MODE, type ConfigYaml } from '#contracts/registry/config-yaml.ts';
import { OAUTH_DEFAULTS } from '#contracts/registry/fields.ts';
import { fieldPath } from '#kubernetes/rules/structural/path.ts';
import { parseDuration } from '#std/duration.ts';
import type { Finding } from '../kind.ts';
import { fieldWithoutEffect } from '../without-effect.ts';
import { CONFIG_PLACE } from './config-yaml.ts';
import {
  ACCOUNT_DIRECTORY,
  type EffectiveEntry,
  type EffectiveProvider,
  type RegistrySpec,
  type WrittenRegistry,
} from './facts.ts';
import { type MountedFile, mountedFile } from './mounted-files.ts';
import type { Selector } from './mounts.ts';

export interface Settled {
  readonly registries: readonly EffectiveEntry[];
  readonly databaseConfig?: RegistrySpec['databaseConfig'];
  readonly authConfig?: RegistrySpec['authConfig'];
  readonly findings: readonly Finding[];
  /** Pointers of fields, each with the pointer of its key in the text. The first match applies. */
  readonly origins: readonly (readonly [field: string, key: string])[];
}

type Spec = WrittenRegistry['spec'];
type ConfigSource = ConfigYaml['sources'][number];

/** A part of the settings, and findings about this part. */
interface PartWithFindings<T> {
  readonly value: T;
  readonly findings: readonly Finding[];
}

export function settleConfigYaml(config: ConfigYaml, spec: Spec): Settled {
  const entries = config.registries.flatMap(({ name, sources: [first] }, index) => {
    const at = config.sources.findIndex((source) => source.name === first);
    const source = config.sources[at];
    if (source === undefined) return [];
    const { value, findings } = settledEntry(source, name, `/sources/${at}`, spec);
    return [{ index, at, entry: value, findings }];
  });
  const sound = entries.flatMap(({ entry, ...rest }) => (entry === undefined ? [] : [{ entry, ...rest }]));
  const database = databaseOf(config.database, spec);
  const auth = authOf(config.auth, spec);
  return {
    registries: sound.map(({ entry }) => entry),
    databaseConfig: database.value,
    authConfig: auth.value,
    findings: [...entries.flatMap(({ findings }) => findings), ...database.findings, ...auth.findings],
    origins: [
      ...sound.flatMap(({ index, at }, position) => originsOf(position, index, at)),
      ['/spec/databaseConfig', '/database'],
      ['/spec/authConfig', '/auth'],
    ],
  };
}

/** `position`: index of the entry in the result, which leaves out invalid entries. */
function originsOf(position: number, index: number, at: number): Settled['origins'] {
  const field = `/spec/registries/${position}`;
  const source = `/sources/${at}`;
  return [
    [`${field}/name`, `/registries/${index}/name`],
    [`${field}/git/auth/passwordSecretRef`, `${source}/git/auth/passwordFile`],
    [`${field}/configMapRef`, `${source}/file/path`],
    [`${field}/pvcRef`, `${source}/file/path`],
    [field, source],
  ];
}

function settledEntry(
  source: ConfigSource,
  name: string,
  key: string,
  spec: Spec,
): PartWithFindings<EffectiveEntry | undefined> {
  const { format = 'upstream', syncPolicy, filter } = source;
  const at = `${CONFIG_PLACE}${key}`;
  const common = { name, format, syncPolicy, filter, at };
  if (source.git !== undefined) return gitEntry(common, source.git, key, spec);
  if (source.api !== undefined) return { value: { ...common, api: source.api }, findings: [] };
  const { file, kubernetes } = source;
  if (kubernetes !== undefined)
    return { value: { ...common, running: { namespaces: kubernetes.namespaces ?? [] } }, findings: [] };
  if (file?.path !== undefined) return fileEntry(common, file.path, `${key}/file/path`, spec);
  if (file?.url === undefined) return { value: undefined, findings: [] };
  const timeoutMs = parseDuration(file.timeout ?? '30s') ?? 0;
  return { value: { ...common, file: { url: file.url, timeoutMs } }, findings: [] };
}

function gitEntry(
  entry: EffectiveEntry,
  git: NonNullable<ConfigSource['git']>,
  key: string,
  spec: Spec,
): PartWithFindings<EffectiveEntry | undefined> {
  const { auth, path = 'registry.json', ...rest } = git;
  if (auth === undefined) return { value: { ...entry, git: { ...rest, path } }, findings: [] };
  const { username, passwordFile } = auth;
  const found = mountedFile(spec, passwordFile);
  if (found?.type !== 'secret') {
    return {
      value: undefined,
      findings: [fileFinding(`${key}/git/auth/passwordFile`, passwordFile, found, 'a Secret')],
    };
  }
  const credentials = { username, passwordSecretRef: found.ref, passwordFile };
  return { value: { ...entry, git: { ...rest, path, auth: credentials } }, findings: [] };
}

function fileEntry(
  entry: EffectiveEntry,
  path: string,
  key: string,
  spec: Spec,
): PartWithFindings<EffectiveEntry | undefined> {
  const found = mountedFile(spec, path);
  if (found?.type === 'configMap')
    return { value: { ...entry, configMapRef: found.ref, mountedAt: path }, findings: [] };
  if (found?.type === 'claim') {
    const { claimName } = found;
    return { value: { ...entry, pvcRef: { claimName, path: found.path }, mountedAt: path }, findings: [] };
  }
  const source = 'a ConfigMap or a PersistentVolumeClaim';
  return { value: undefined, findings: [fileFinding(key, path, found, source)] };
}

function fileFinding(key: string, path: string, found: MountedFile | undefined, needed: string): Finding {
  const pointer = `${CONFIG_PLACE}${key}`;
  const fault =
    found === undefined ? 'no volumeMount of the resource has it' : `its volume is not ${needed} with such a file`;
  const message = `${fieldPath(pointer)}: ${path} cannot be read, because ${fault}`;
  return { code: 'config-yaml-file-missing', severity: 'error', pointer, message };
}

function databaseOf(database: ConfigYaml['database'], spec: Spec): PartWithFindings<RegistrySpec['databaseConfig']> {
  const { pgpassSecretRef } = spec;
  if (database === undefined) {
    const why = 'configYAML has no database, and skep.yaml says where the passwords of the common one are';
    const idle = pgpassSecretRef === undefined ? [] : [fieldWithoutEffect('/spec/pgpassSecretRef', why)];
    return { value: undefined, findings: idle };
  }
  const settings = {
    ...DATABASE_DEFAULTS,
    sslMode: CONFIG_YAML_SSL_MODE,
    migrationUser: database.user,
    ...database,
  } as const;
  if (pgpassSecretRef !== undefined) {
    const { name, key } = pgpassSecretRef;
    return { value: { settings, passwords: { file: { name, key } } }, findings: [] };
  }
  const pointer = `${CONFIG_PLACE}/database`;
  const message = `${fieldPath(pointer)}: its passwords are missing: name a Secret with a password file in spec.pgpassSecretRef`;
  return { value: undefined, findings: [{ code: 'config-yaml-invalid', severity: 'error', pointer, message }] };
}

function authOf(auth: ConfigYaml['auth'], spec: Spec): PartWithFindings<RegistrySpec['authConfig']> {
  const { mode, oauth, publicPaths } = auth;
  if (oauth === undefined) return { value: { mode, publicPaths }, findings: [] };
  const providers = oauth.providers.map((provider, index) =>
    providerOf(provider, `/auth/oauth/providers/${index}`, spec),
  );
  return {
    value: {
      mode,
      publicPaths,
      oauth: { ...OAUTH_DEFAULTS, ...oauth, providers: providers.map(({ value }) => value) },
    },
    findings: providers.flatMap(({ findings }) => findings),
  };
}

type WrittenProvider = NonNullable<ConfigYaml['auth']['oauth']>['providers'][number];
const FILES = ['clientSecretFile', 'caCertPath', 'authTokenFile'] as const;

/**
 * Returns the provider with its paths unchanged, because the container reads the files. The Secrets and ConfigMaps with
 * these files are listed, so that their changes replace pods.
 */
function providerOf(provider: WrittenProvider, key: string, spec: Spec): PartWithFindings<EffectiveProvider> {
  const files = FILES.flatMap((field) => {
    const path = provider[field];
    return path === undefined ? [] : [{ field, path, found: mountedFile(spec, path) }];
  });
  const refs = (type: MountedFile['type']): readonly Selector[] =>
    files.flatMap(({ found }) => (found?.type === type && 'ref' in found ? [found.ref] : []));
  return {
    value: {
      ...provider,
      allowPrivateIP: provider.allowPrivateIP ?? false,
      secretFiles: refs('secret'),
      certificateFiles: refs('configMap'),
    },
    findings: files.flatMap(({ field, path, found }) => {
      // The author's pod template may mount more files.
      const isThere = found !== undefined || path.startsWith(ACCOUNT_DIRECTORY) || spec.podTemplateSpec !== undefined;
      return isThere ? [] : [fileFinding(`${key}/${field}`, path, found, 'a Secret')];
    }),
  };
}
