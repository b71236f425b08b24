// Values that follow from an MCPRegistry's spec and that several files need: names, paths inside the container.

import { REGISTRY_CONFIG_SUFFIX } from '#contracts/registry/config-map.ts';
import type { Static } from '#std/schema.ts';
import type { Typed } from '../define.ts';
import type { ObjectName } from '../kind.ts';
import { LABEL_DOMAIN } from '../labels.ts';
import { made } from '../made.ts';
import type { MCPRegistrySpec } from './schema.ts';

export type Registry = Typed<typeof MCPRegistrySpec>;
export type RegistrySpec = Static<typeof MCPRegistrySpec>;
export type Entry = RegistrySpec['registries'][number];
export type Provider = NonNullable<NonNullable<RegistrySpec['authConfig']>['oauth']>['providers'][number];

/** Port of the registry service, in its container and on its Service. */
export const API_PORT = 8080;
/** Port for scrapers inside the cluster; the Service does not have it. */
export const METRICS_PORT = 8081;

/** Names of the children. */
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

/** Selectors can never be changed. */
export function apiSelector(name: string) {
  return { 'app.kubernetes.io/name': registryChildNames(name).api, 'app.kubernetes.io/component': 'registry-api' };
}

/** Returns the URL of the service inside the cluster. */
export function apiEndpoint({ name, namespace }: Pick<Registry, 'name' | 'namespace'>): string {
  return `http://${registryChildNames(name).api}.${namespace}:${API_PORT}`;
}

/** Returns the folder in which the data of a ConfigMap or claim is mounted (Document 2, PVCSource). */
export function dataDirectory({ name }: Entry): string {
  return `/config/registry/${name}`;
}

export function secretDirectory(secret: string): string {
  return `/secrets/${secret}`;
}

export function certificateDirectory(configMap: string): string {
  return `/config/certs/${configMap}`;
}

export function madeObjects({ name, spec }: Registry): readonly ObjectName[] {
  const names = registryChildNames(name);
  return made({
    Deployment: [names.api],
    Service: [names.api],
    ServiceAccount: [names.account],
    ConfigMap: [names.config],
    Secret: spec.databaseConfig === undefined ? [] : [names.pgpass],
  });
}
