// The settings of an MCPRegistry that are annotations `skep.dev/...`: what each means, which values fit, where it counts.

import {
  type AnnotationSetting,
  annotationFindings,
  annotationValue,
  oneOf,
  readConfigMapKey,
} from '../annotations.ts';
import type { Finding } from '../kind.ts';
import type { Registry } from './facts.ts';

type Place = 'MCPRegistries' | 'MCPRegistries with a databaseConfig' | 'MCPRegistries with authConfig.mode oauth';
type Setting<Value> = AnnotationSetting<Value, Place>;

const DATABASE_CA: Setting<{ readonly name: string; readonly key: string }> = {
  name: 'skep.dev/database-ca',
  description:
    'ConfigMap, and behind a slash its key (ca.crt where none is given), with the certificates in PEM by which the server of databaseConfig is checked: for sslMode verify-ca, and for verify-full where the image does not trust its authority.',
  values: 'the name of a ConfigMap, or NAME/KEY',
  fallback: 'for verify-full those of the image',
  places: ['MCPRegistries with a databaseConfig'],
  read: readConfigMapKey,
};

const DOCUMENTATION: Setting<string> = {
  name: 'skep.dev/resource-documentation',
  description: 'URL of a page for people: resource_documentation of the discovery document.',
  values: 'an http or https URL',
  fallback: 'no such field',
  places: ['MCPRegistries with authConfig.mode oauth'],
  read: (text) => (/^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
};

const PAGE: Setting<'enabled' | 'disabled'> = {
  name: 'skep.dev/page',
  description:
    'Whether the web page is served at /. It holds no data: in mode oauth people log in before they see any.',
  ...oneOf(['enabled', 'disabled'], 'enabled'),
  places: ['MCPRegistries'],
};

const RUNNING: Setting<'enabled' | 'disabled'> = {
  name: 'skep.dev/running',
  description:
    'Whether readers see which MCP servers run in the namespace of the registry, with their addresses inside the cluster: GET /mcp, and the page.',
  ...oneOf(['enabled', 'disabled'], 'enabled'),
  fallback: 'enabled with authConfig.mode oauth, disabled otherwise',
  places: ['MCPRegistries'],
};

export const REGISTRY_ANNOTATIONS: readonly Setting<unknown>[] = [DATABASE_CA, DOCUMENTATION, PAGE, RUNNING];

/** What is written, where it fits and has an effect. */
export function registryAnnotations(self: Pick<Registry, 'spec' | 'resource'>) {
  const read = <Value>(setting: Setting<Value>) => annotationValue(self.resource, setting, placesOf(self));
  return {
    databaseCA: read(DATABASE_CA),
    resourceDocumentation: read(DOCUMENTATION),
    page: read(PAGE),
    running: read(RUNNING),
  };
}

export function registryAnnotationFindings(self: Pick<Registry, 'spec' | 'resource'>): readonly Finding[] {
  return annotationFindings(self.resource, REGISTRY_ANNOTATIONS, placesOf(self));
}

function placesOf({ spec }: Pick<Registry, 'spec'>): readonly Place[] {
  return [
    'MCPRegistries',
    ...(spec.databaseConfig === undefined ? [] : (['MCPRegistries with a databaseConfig'] as const)),
    ...(spec.authConfig?.mode === 'oauth' ? (['MCPRegistries with authConfig.mode oauth'] as const) : []),
  ];
}
