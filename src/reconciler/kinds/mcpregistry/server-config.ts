// Renders an MCPRegistry into the configuration of its registry service.

import { DATABASE_DEFAULTS } from '#contracts/database-fields.ts';
import type { RegistryConfigFile } from '#contracts/registry/config.ts';
import { FORMAT_OF_APIS } from '#contracts/registry/source.ts';
import type { KindSettings } from '../kind.ts';
import { registryAnnotations } from './annotations.ts';
import {
  apiEndpoint,
  certificateDirectory,
  dataDirectory,
  type EffectiveEntry,
  type EffectiveProvider,
  type EffectiveRegistry,
  METRICS_PORT,
  secretDirectory,
} from './facts.ts';
import { databaseCA } from './mounts.ts';

type File = RegistryConfigFile;
type FileEntry = File['registries'][number];
type FileProvider = NonNullable<NonNullable<NonNullable<File['auth']>['oauth']>['providers']>[number];
type Filter = NonNullable<EffectiveEntry['filter']>;

export function serverConfig(self: EffectiveRegistry, settings: Pick<KindSettings, 'catalogueDatabase'>): File {
  const { name, namespace, spec } = self;
  return {
    registryName: name,
    displayName: spec.displayName || undefined,
    namespace,
    metrics: { port: METRICS_PORT },
    registries: [...spec.registries.map(entry), ...fleetEntry(self)],
    database: database(self, settings),
    page: registryAnnotations(self).page,
    running: registryAnnotations(self).running,
    auth: auth(self),
  };
}

function entry(source: EffectiveEntry): FileEntry {
  const { name, syncPolicy, filter } = source;
  return {
    name,
    format: formatOf(source),
    ...origin(source),
    // Only the service can read a volume. The reconciler reads all other sources, because it has the Secrets and
    // network access.
    syncedBy: source.pvcRef === undefined ? 'reconciler' : undefined,
    syncPolicy: syncPolicy && { interval: syncPolicy.interval },
    filter: filter && lists(filter),
  };
}

/** Returns the registry of running servers, whose content the reconciler stores. */
function fleetEntry(self: EffectiveRegistry): readonly FileEntry[] {
  const { fleet: name } = registryAnnotations(self);
  return name === undefined ? [] : [{ name, format: 'upstream', kubernetes: {}, syncedBy: 'reconciler' }];
}

/** Returns the format of an entry. APIs of other registries have only the upstream format. */
export function formatOf({ api, format }: EffectiveEntry): EffectiveEntry['format'] {
  return api === undefined ? format : FORMAT_OF_APIS;
}

function origin(source: EffectiveEntry): Pick<FileEntry, 'git' | 'api' | 'file' | 'kubernetes'> {
  const { git, api, pvcRef, file, running, mountedAt } = source;
  if (git !== undefined) {
    const { auth: credentials, ...rest } = git;
    if (credentials === undefined) return { git: rest };
    const { username, passwordSecretRef, passwordFile } = credentials;
    const mounted = `${secretDirectory(passwordSecretRef.name)}/${passwordSecretRef.key}`;
    return { git: { ...rest, auth: { username, passwordFile: passwordFile ?? mounted } } };
  }
  if (api !== undefined) return { api: { endpoint: api.endpoint } };
  if (file !== undefined) return { file: { url: file.url, timeout: `${file.timeoutMs}ms` } };
  if (running !== undefined) return { kubernetes: {} };
  return { file: { path: mountedAt ?? `${dataDirectory(source)}/${pvcRef?.path ?? 'registry.json'}` } };
}

function lists({ names, tags }: Filter): NonNullable<FileEntry['filter']> {
  return {
    names: names && withoutEmpty(names),
    tags: tags && withoutEmpty(tags),
  };
}

function withoutEmpty({ include, exclude }: NonNullable<Filter['names']>) {
  return { include, exclude };
}

/**
 * Returns the registry's own database. If it declares none, returns the catalogue's database of this instance, with
 * defaults for missing fields.
 */
function database(
  self: EffectiveRegistry,
  settings: Pick<KindSettings, 'catalogueDatabase'>,
): NonNullable<File['database']> {
  const certificates = databaseCA(self, settings);
  const caFile = certificates && `${certificateDirectory(certificates.name)}/${certificates.key}`;
  const own = self.spec.databaseConfig;
  if (own === undefined) {
    // Files on the reconciler's machine do not exist in the service's container.
    const { passFile: _pass, caFile: _ca, services: _services, ...catalogue } = settings.catalogueDatabase ?? {};
    return { ...DATABASE_DEFAULTS, ...catalogue, caFile };
  }
  return { ...own.settings, caFile };
}

function auth(self: EffectiveRegistry): NonNullable<File['auth']> {
  const { mode, oauth, publicPaths } = self.spec.authConfig ?? {};
  if (mode !== 'oauth') return { mode: 'anonymous' };
  // The service refuses this configuration. An anonymous mode would let everyone read.
  if (oauth === undefined) return { mode };
  const { resourceUrl, realm, scopesSupported, providers } = oauth;
  return {
    mode,
    publicPaths: publicPaths && [...publicPaths],
    oauth: {
      resourceUrl: resourceUrl === undefined || resourceUrl === '' ? apiEndpoint(self) : resourceUrl,
      realm,
      scopesSupported,
      resourceDocumentation: registryAnnotations(self).resourceDocumentation,
      providers: providers.map(provider),
    },
  };
}

function provider(given: EffectiveProvider): FileProvider {
  const { name, issuerUrl, audience, jwksUrl, introspectionUrl, clientId, clientSecretRef, allowPrivateIP } = given;
  const { caCertPath, caCertRef, authTokenFile, authTokenRef, clientSecretFile } = given;
  const certificate = caCertRef && `${certificateDirectory(caCertRef.name)}/${caCertRef.key}`;
  const token = authTokenRef && `${secretDirectory(authTokenRef.name)}/${authTokenRef.key}`;
  const secret = clientSecretRef && `${secretDirectory(clientSecretRef.name)}/${clientSecretRef.key}`;
  return {
    name,
    issuerUrl,
    audience,
    jwksUrl: jwksUrl || undefined,
    introspectionUrl: introspectionUrl || undefined,
    clientId: clientId || undefined,
    clientSecretFile: clientSecretFile ?? (secret || undefined),
    caCertPath: caCertPath || certificate || undefined,
    authTokenFile: authTokenFile || token || undefined,
    allowPrivateIP,
  };
}
