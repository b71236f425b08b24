// Renders the volumes of a registry service: data from ConfigMaps and claims, Secrets, certificates. Each Secret and
// ConfigMap is mounted once, with all its named keys.

import type { JsonObject } from '#std/json.ts';
import type { Settings } from '../kind.ts';
import { volumeName } from '../pods/pod.ts';
import { registryAnnotations } from './annotations.ts';
import {
  certificateDirectory,
  dataDirectory,
  type Entry,
  type Provider,
  type Registry,
  type RegistrySpec,
  secretDirectory,
} from './facts.ts';

export interface Mounted {
  readonly volume: JsonObject;
  readonly mount: JsonObject;
}

/** Returns the mounts of data. Sources in Git and APIs of other registries have no mounts. */
export function dataMounts(spec: RegistrySpec): readonly Mounted[] {
  return spec.registries.flatMap((entry) => {
    if (entry.mountedAt !== undefined) return [];
    const volume = dataVolume(entry);
    return volume === undefined
      ? []
      : [mounted(volumeName('registry-data-source', entry.name), volume, dataDirectory(entry))];
  });
}

function dataVolume({ configMapRef, pvcRef }: Entry): JsonObject | undefined {
  if (pvcRef !== undefined) return { persistentVolumeClaim: { claimName: pvcRef.claimName, readOnly: true } };
  if (configMapRef === undefined) return undefined;
  const { name, key, optional } = configMapRef;
  return {
    configMap: { name, items: [{ key, path: 'registry.json' }], optional: optional === true ? optional : undefined },
  };
}

/** Mounts every Secret that the configuration uses as a file: credentials of Git sources and identity providers. */
export function secretMounts(spec: RegistrySpec): readonly Mounted[] {
  const gitNames = new Set(gitSecrets(spec).map(({ name }) => name));
  return merged(generatedSecrets(spec)).map(({ name, items, optional }) => {
    const volume = volumeName(gitNames.has(name) ? 'git-auth' : 'auth-secret', name);
    return mounted(volume, { secret: { secretName: name, items, ...optional } }, secretDirectory(name));
  });
}

/** Returns the mounted Secrets, including mounts of the author. A provider's file takes precedence over its Secret. */
export function mountedSecrets(spec: RegistrySpec): readonly Selector[] {
  const gitFiles = spec.registries.flatMap(({ git }) =>
    git?.auth?.passwordFile === undefined ? [] : [git.auth.passwordSecretRef],
  );
  const providerFiles = providersOf(spec).flatMap(({ secretFiles = [] }) => secretFiles);
  return [...generatedSecrets(spec), ...gitFiles, ...providerFiles];
}

/** Returns the Secrets that the author does not mount. */
function generatedSecrets(spec: RegistrySpec): readonly Selector[] {
  const providerSecrets = providersOf(spec).flatMap(({ clientSecretRef, authTokenRef, authTokenFile }) => [
    ...(clientSecretRef === undefined ? [] : [clientSecretRef]),
    ...(authTokenRef === undefined || authTokenFile ? [] : [authTokenRef]),
  ]);
  return [...gitSecrets(spec), ...providerSecrets];
}

function gitSecrets({ registries }: RegistrySpec): readonly Selector[] {
  return registries.flatMap(({ git }) =>
    git?.auth === undefined || git.auth.passwordFile !== undefined ? [] : [git.auth.passwordSecretRef],
  );
}

/** Mounts every ConfigMap with certificates of an identity provider or of the database. */
export function certificateMounts(refs: readonly Selector[]): readonly Mounted[] {
  return merged(refs).map(({ name, items, optional }) =>
    mounted(volumeName('auth-ca', name), { configMap: { name, items, ...optional } }, certificateDirectory(name)),
  );
}

/** Returns the certificates that are read once, including certificates in volumes of the author. */
export function readCertificates(self: Registry, settings: Pick<Settings, 'catalogueDatabase'>): readonly Selector[] {
  const files = providersOf(self.spec).flatMap(({ certificateFiles = [] }) => certificateFiles);
  return [...certificateRefs(self, settings), ...files];
}

/** Returns the certificates to mount. A provider that names a file in the container needs no mount. */
export function certificateRefs(self: Registry, settings: Pick<Settings, 'catalogueDatabase'>): readonly Selector[] {
  const database = databaseCA(self, settings);
  const providers = providersOf(self.spec).flatMap(({ caCertRef, caCertPath }) =>
    caCertRef === undefined || caCertPath ? [] : [caCertRef],
  );
  return database === undefined ? providers : [...providers, database];
}

/**
 * Returns the certificates of the registry's own database. Without one, returns the certificates that skep.yaml names.
 */
export function databaseCA(self: Registry, { catalogueDatabase }: Pick<Settings, 'catalogueDatabase'>) {
  return self.spec.databaseConfig === undefined
    ? catalogueDatabase?.services?.caConfigMap
    : registryAnnotations(self).databaseCA;
}

function providersOf({ authConfig }: RegistrySpec): readonly Provider[] {
  return authConfig?.mode === 'oauth' ? (authConfig.oauth?.providers ?? []) : [];
}

export interface Selector {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** Returns one entry per object. It is optional if all references to it are. */
function merged(selectors: readonly Selector[]) {
  const byName = Map.groupBy(selectors, ({ name }) => name);
  return [...byName].map(([name, same]) => ({
    name,
    items: [...new Set(same.map(({ key }) => key))].map((key) => ({ key, path: key })),
    optional: same.every(({ optional }) => optional === true) ? { optional: true } : {},
  }));
}

function mounted(name: string, source: JsonObject, mountPath: string): Mounted {
  return { volume: { name, ...source }, mount: { name, mountPath, readOnly: true } };
}
