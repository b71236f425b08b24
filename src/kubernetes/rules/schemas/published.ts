// Builds schemas of custom kinds as an API server publishes them, with Kubernetes' own schemas for metadata and lists.

import { isObject, type JsonObject } from '#std/json.ts';
import type { OpenApiSchema } from '../openapi.ts';
import { bundledSchema } from './bundled.ts';

/** Prefix of the schema names of Kubernetes' own metadata. */
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Returns `dev.example.v1.Widget` for the kind Widget of `example.dev/v1`. */
export function publishedName({ group, version, kind }: CustomKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

/**
 * Returns the published form of a definition's `openAPIV3Schema`. `metaSchemas` returns the schemas to which it refers.
 */
export function publishedSchema({ group, version, kind }: CustomKind, schema: JsonObject): OpenApiSchema {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const published = {
    ...schema,
    type: 'object',
    properties: {
      ...properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `#/components/schemas/${META}ObjectMeta` }] },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
  return published as OpenApiSchema;
}

/** Returns the schemas of metadata, of objects and of lists by name. */
export function metaSchemas(): Record<string, OpenApiSchema> {
  const core = bundledSchema('v1')?.components.schemas ?? {};
  return Object.fromEntries(Object.entries(core).filter(([name]) => name.startsWith(META)));
}
