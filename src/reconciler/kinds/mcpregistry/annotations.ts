// Defines the settings of an MCPRegistry that are annotations `skep.dev/...`: meaning, valid values, and the registries
// to which they apply.

import { RESERVED_NAMES } from '#contracts/registry/fields.ts';
import type { FleetOrigin } from '#contracts/registry/source.ts';
import { pointerToken } from '#std/json.ts';
import {
  type AnnotationSetting,
  annotationFindings,
  annotationValue,
  oneOf,
  readConfigMapKey,
} from '../annotations.ts';
import type { Finding } from '../kind.ts';
import type { EffectiveRegistry } from './facts.ts';

type RegistryPlace =
  | 'MCPRegistries'
  | 'MCPRegistries with a databaseConfig'
  | 'MCPRegistries with authConfig.mode oauth'
  | 'MCPRegistries with skep.dev/fleet';
type RegistrySetting<Value> = AnnotationSetting<Value, RegistryPlace>;

const DATABASE_CA: RegistrySetting<{ readonly name: string; readonly key: string }> = {
  name: 'skep.dev/database-ca',
  description:
    'ConfigMap, and after a slash its key (default: ca.crt), with certificates in PEM that verify the server of databaseConfig: for sslMode verify-ca, and for verify-full if the image does not trust its authority.',
  values: 'the name of a ConfigMap, or NAME/KEY',
  fallback: 'for verify-full the authorities of the image',
  places: ['MCPRegistries with a databaseConfig'],
  read: readConfigMapKey,
};

const DOCUMENTATION: RegistrySetting<string> = {
  name: 'skep.dev/resource-documentation',
  description: 'URL of a page for people: resource_documentation of the discovery document.',
  values: 'an http or https URL',
  fallback: 'no such field',
  places: ['MCPRegistries with authConfig.mode oauth'],
  read: (text) => (/^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
};

const PAGE: RegistrySetting<'enabled' | 'disabled'> = {
  name: 'skep.dev/page',
  description:
    'Whether the web page is served at /. It contains no data: in mode oauth people log in before they see any.',
  ...oneOf(['enabled', 'disabled'], 'enabled'),
  places: ['MCPRegistries'],
};

const RUNNING: RegistrySetting<'enabled' | 'disabled'> = {
  name: 'skep.dev/running',
  description:
    'Whether readers see the MCP servers that run in the namespace of the registry, with their addresses inside the cluster: GET /mcp, and the page.',
  ...oneOf(['enabled', 'disabled'], 'enabled'),
  fallback: 'enabled with authConfig.mode oauth, disabled otherwise',
  places: ['MCPRegistries'],
};

const FLEET: RegistrySetting<string> = {
  name: 'skep.dev/fleet',
  description:
    'Name of one more registry, read at /{name}/v0.1/servers: its entries are the running servers with the annotation registry-export.',
  values: 'a name of at most 63 letters, digits, dots, hyphens and underscores, that no other registry has',
  fallback: 'no such registry',
  places: ['MCPRegistries'],
  read: (text) => (/^[A-Za-z0-9][-_.A-Za-z0-9]{0,62}$/.test(text) && !RESERVED_NAMES.includes(text) ? text : undefined),
};

const FLEET_NAMESPACES: RegistrySetting<FleetOrigin['namespaces']> = {
  name: 'skep.dev/fleet-namespaces',
  description: 'Namespaces whose servers are in the registry that skep.dev/fleet names.',
  values: 'names of namespaces separated by commas, or *',
  fallback: 'the namespace of the MCPRegistry',
  places: ['MCPRegistries with skep.dev/fleet'],
  read(text) {
    const names = text.split(',').map((name) => name.trim());
    if (names.length === 1 && names[0] === '*') return 'all';
    return names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) ? names : undefined;
  },
};

export const REGISTRY_ANNOTATIONS: readonly RegistrySetting<unknown>[] = [
  DATABASE_CA,
  DOCUMENTATION,
  PAGE,
  RUNNING,
  FLEET,
  FLEET_NAMESPACES,
];

/** Returns the values of the annotations that are valid and have an effect. */
export function registryAnnotations(self: Pick<EffectiveRegistry, 'spec' | 'resource'>) {
  const read = <Value>(setting: RegistrySetting<Value>) => annotationValue(self.resource, setting, placesOf(self));
  return {
    databaseCA: read(DATABASE_CA),
    resourceDocumentation: read(DOCUMENTATION),
    page: read(PAGE),
    running: read(RUNNING),
    fleet: read(FLEET),
    fleetNamespaces: read(FLEET_NAMESPACES),
  };
}

export function registryAnnotationFindings(self: Pick<EffectiveRegistry, 'spec' | 'resource'>): readonly Finding[] {
  return [...annotationFindings(self.resource, REGISTRY_ANNOTATIONS, placesOf(self)), ...fleetNameFindings(self)];
}

function fleetNameFindings({ spec, resource }: Pick<EffectiveRegistry, 'spec' | 'resource'>): readonly Finding[] {
  const name = resource.metadata.annotations?.[FLEET.name];
  if (!spec.registries.some((each) => each.name === name)) return [];
  const message = `spec.registries has a registry "${name}" already: ${FLEET.name} must be another name`;
  const pointer = `/metadata/annotations/${pointerToken(FLEET.name)}`;
  return [{ code: 'annotation-invalid', severity: 'error', pointer, message }];
}

function placesOf({ spec, resource }: Pick<EffectiveRegistry, 'spec' | 'resource'>): readonly RegistryPlace[] {
  return [
    ...(resource.metadata.annotations?.[FLEET.name] === undefined
      ? []
      : (['MCPRegistries with skep.dev/fleet'] as const)),
    'MCPRegistries',
    ...(spec.databaseConfig === undefined ? [] : (['MCPRegistries with a databaseConfig'] as const)),
    ...(spec.authConfig?.mode === 'oauth' ? (['MCPRegistries with authConfig.mode oauth'] as const) : []),
  ];
}
