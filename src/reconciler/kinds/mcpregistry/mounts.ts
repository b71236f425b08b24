// Renders the volumes of a registry service: data from ConfigMaps and claims, Secrets, certificates. Each Secret, and
// each ConfigMap with certificates, is mounted once, with all keys that the settings name.

import type { JsonObject } from '#std/json.ts';
import type { KindSettings } from '../kind.ts';
import { volumeName } from '../pods/pod.ts';
import { registryAnnotations } from './annotations.ts';
import {
  certificateDirectory,
  dataDirectory,
  type EffectiveEntry,
  type EffectiveProvider,
  type EffectiveRegistry,
  type RegistrySpec,
  secretDirectory,
} from './facts.ts';

export interface Mounted {
  readonly volume: JsonObject;
  readonly mount: JsonObject;
}

/** Returns the mounts of data. Git sources and APIs of other registries have no mounts. */
export function dataMounts(spec: RegistrySpec): readonly Mounted[] {
  return spec.registries.flatMap((entry) => {
    if (entry.mountedAt !== undefined) return [];
    const volume = dataVolume(entry);
    return volume === undefined
      ? []
      : [mounted(volumeName('registry-data-source', entry.name), volume, dataDirectory(entry))];
  });
}

function dataVolume({ configMapRef, pvcRef }: EffectiveEntry): JsonObject | undefined {
  if (pvcRef !== undefined) return { persistentVolumeClaim: { claimName: pvcRef.claimName, readOnly: true } };
  if (configMapRef === undefined) return undefined;
  const { name, key, optional } = configMapRef;
  return {
    configMap: { name, items: [{ key, path: 'registry.json' }], optional: optional === true ? optional : undefined },
  };
}

/** Mounts the Secrets of Git sources and identity providers, except Secrets that the author mounts. */
export function secretMounts(spec: RegistrySpec): readonly Mounted[] {
  const gitNames = new Set(gitSecrets(spec).map(({ name }) => name));
  return merged(generatedSecrets(spec)).map(({ name, items, optional }) => {
    const volume = volumeName(gitNames.has(name) ? 'git-auth' : 'auth-secret', name);
    return mounted(volume, { secret: { secretName: name, items, ...optional } }, secretDirectory(name));
  });
}

/** Returns all Secrets of Git sources and identity providers, including Secrets that the author mounts. */
export function mountedSecrets(spec: RegistrySpec): readonly Selector[] {
  const gitFiles = spec.registries.flatMap(({ git }) =>
    git?.auth?.passwordFile === undefined ? [] : [git.auth.passwordSecretRef],
  );
  const providerFiles = providersOf(spec).flatMap(({ secretFiles = [] }) => secretFiles);
  return [...generatedSecrets(spec), ...gitFiles, ...providerFiles];
}

/**
 * Returns the Secrets for which skep renders mounts. If a provider sets authTokenFile, its authTokenRef needs no mount.
 */
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

/** Mounts the ConfigMaps with certificates of identity providers and of the database. */
export function certificateMounts(refs: readonly Selector[]): readonly Mounted[] {
  return merged(refs).map(({ name, items, optional }) =>
    mounted(volumeName('auth-ca', name), { configMap: { name, items, ...optional } }, certificateDirectory(name)),
  );
}

/** Returns the certificates that the service reads only at its start, including certificates that the author mounts. */
export function readCertificates(
  self: EffectiveRegistry,
  settings: Pick<KindSettings, 'catalogueDatabase'>,
): readonly Selector[] {
  const files = providersOf(self.spec).flatMap(({ certificateFiles = [] }) => certificateFiles);
  return [...certificateRefs(self, settings), ...files];
}

/**
 * Returns the certificates for which skep renders mounts. A provider that names a file in the container needs no mount.
 */
export function certificateRefs(
  self: EffectiveRegistry,
  settings: Pick<KindSettings, 'catalogueDatabase'>,
): readonly Selector[] {
  const database = databaseCA(self, settings);
  const providers = providersOf(self.spec).flatMap(({ caCertRef, caCertPath }) =>
    caCertRef === undefined || caCertPath ? [] : [caCertRef],
  );
  return database === undefined ? providers : [...providers, database];
}

/**
 * Returns the certificates for the registry's database. If the registry declares no database, returns the certificates
 * that skep.yaml names.
 */
export function databaseCA(self: EffectiveRegistry, { catalogueDatabase }: Pick<KindSettings, 'catalogueDatabase'>) {
  return self.spec.databaseConfig === undefined
    ? catalogueDatabase?.services?.caConfigMap
    : registryAnnotations(self).databaseCA;
}

function providersOf({ authConfig }: RegistrySpec): readonly EffectiveProvider[] {
  return authConfig?.mode === 'oauth' ? (authConfig.oauth?.providers ?? []) : [];
}

export interface Selector {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** Returns one entry for each object. The entry is optional if all selectors of the object are optional. */
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
