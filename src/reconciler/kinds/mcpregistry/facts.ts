// Computes values from an MCPRegistry's spec that several files need: names, paths inside the container.

import { REGISTRY_CONFIG_SUFFIX } from '#contracts/registry/config-map.ts';
import type { Static } from '#std/schema.ts';
import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { LABEL_DOMAIN } from '../labels.ts';
import { made } from '../made.ts';
import type { MCPRegistrySpec } from './schema.ts';

export type WrittenRegistry = Typed<typeof MCPRegistrySpec>;
type AuthorSpec = Static<typeof MCPRegistrySpec>;

/** An MCPRegistry whose settings come from its fields or from `configYAML`. */
export interface EffectiveRegistry extends Omit<WrittenRegistry, 'spec'> {
  readonly spec: RegistrySpec;
  /** The author's spec, with `configYAML`. */
  readonly written: AuthorSpec;
}

export interface RegistrySpec extends Omit<AuthorSpec, 'configYAML' | 'registries' | 'databaseConfig' | 'authConfig'> {
  readonly registries: readonly EffectiveEntry[];
  readonly databaseConfig?: Database | undefined;
  readonly authConfig?: Auth | undefined;
}

type WrittenEntry = NonNullable<AuthorSpec['registries']>[number];
type WrittenGit = NonNullable<WrittenEntry['git']>;

export interface EffectiveEntry extends Omit<WrittenEntry, 'git'> {
  readonly git?: Omit<WrittenGit, 'auth'> & {
    /** `passwordFile`: path at which the author mounts the Secret with the password. */
    readonly auth?: NonNullable<WrittenGit['auth']> & { readonly passwordFile?: string };
  };
  /** Settings of a source that is a file at a URL. */
  readonly file?: { readonly url: string; readonly timeoutMs: number };
  /**
   * If set, the entry lists the running servers of these namespaces. An empty list means the registry's own namespace.
   */
  readonly running?: { readonly namespaces: readonly string[] };
  /** Path at which the author mounts the ConfigMap or the PersistentVolumeClaim. */
  readonly mountedAt?: string;
  /** Pointer to the entry that the author wrote in `configYAML`. Not set for entries of `spec.registries`. */
  readonly at?: string;
}

type WrittenDatabase = NonNullable<AuthorSpec['databaseConfig']>;
type DatabaseFields = Omit<WrittenDatabase, 'dbAppUserPasswordSecretRef' | 'dbMigrationUserPasswordSecretRef'>;
export type PasswordRef = WrittenDatabase['dbAppUserPasswordSecretRef'];

export interface Database {
  readonly settings: DatabaseFields;
  /** Two Secrets with one password each, or one Secret with a password file. */
  readonly passwords: { readonly app: PasswordRef; readonly migration: PasswordRef } | { readonly file: PasswordRef };
}

type WrittenAuth = NonNullable<AuthorSpec['authConfig']>;
type WrittenOAuth = NonNullable<WrittenAuth['oauth']>;

interface Auth extends Omit<WrittenAuth, 'oauth'> {
  readonly oauth?: Omit<WrittenOAuth, 'providers'> & { readonly providers: readonly EffectiveProvider[] };
  readonly publicPaths?: readonly string[] | undefined;
}

export interface EffectiveProvider extends WrittenProvider {
  readonly clientSecretFile?: string;
  /** Secrets and ConfigMaps that the author mounts, with files of the provider. */
  readonly secretFiles?: readonly PasswordRef[];
  readonly certificateFiles?: readonly PasswordRef[];
}

type WrittenProvider = WrittenOAuth['providers'][number];

/** Folder with the token of the pod's service account, for a provider that is the cluster's API server. */
export const ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Port of the registry service, in its container and in its Kubernetes Service. */
export const API_PORT = 8080;
/** Port for metrics in the container. The Kubernetes Service does not contain this port. */
export const METRICS_PORT = 8081;

export function registryChildNames(name: string) {
  return {
    api: `${name}-api`,
    account: `${name}-registry-api`,
    config: `${name}${REGISTRY_CONFIG_SUFFIX}`,
    pgpass: `${name}-db-pgpass`,
  };
}

export function apiLabels(name: string) {
  return {
    ...apiSelector(name),
    'app.kubernetes.io/managed-by': 'toolhive-operator',
    [`${LABEL_DOMAIN}/registry-name`]: name,
  };
}

/** Returns the selector of the pods. Kubernetes refuses to change selectors. */
export function apiSelector(name: string) {
  return { 'app.kubernetes.io/name': registryChildNames(name).api, 'app.kubernetes.io/component': 'registry-api' };
}

/** Returns the URL of the service inside the cluster. */
export function apiEndpoint({ name, namespace }: Pick<EffectiveRegistry, 'name' | 'namespace'>): string {
  return `http://${registryChildNames(name).api}.${namespace}:${API_PORT}`;
}

/** Returns the folder into which the data of a ConfigMap or claim is mounted (operator document, PVCSource). */
export function dataDirectory({ name }: EffectiveEntry): string {
  return `/config/registry/${name}`;
}

export function secretDirectory(secret: string): string {
  return `/secrets/${secret}`;
}

export function certificateDirectory(configMap: string): string {
  return `/config/certs/${configMap}`;
}

export function madeObjects({ name, spec: { databaseConfig } }: EffectiveRegistry): readonly ObjectName[] {
  const names = registryChildNames(name);
  return made({
    Deployment: [names.api],
    Service: [names.api],
    ServiceAccount: [names.account],
    ConfigMap: [names.config],
    Secret: databaseConfig === undefined || 'file' in databaseConfig.passwords ? [] : [names.pgpass],
  });
}
