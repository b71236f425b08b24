// Schemas of custom kinds as an API server publishes them: their own, and Kubernetes' for what is around it.

import { isObject, type JsonObject } from '#std/json.ts';
import type { OpenApiSchema } from '../openapi.ts';
import { bundledSchema } from './bundled.ts';

/** Where the names of Kubernetes' own metadata begin. */
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** `dev.example.v1.Widget` for the kind Widget of `example.dev/v1`. */
export function publishedName({ group, version, kind }: CustomKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

/** From the `openAPIV3Schema` of its definition. What it names is in `metaSchemas`. */
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

/** By name: of metadata, of objects and of lists. */
export function metaSchemas(): Record<string, OpenApiSchema> {
  const core = bundledSchema('v1')?.components.schemas ?? {};
  return Object.fromEntries(Object.entries(core).filter(([name]) => name.startsWith(META)));
}
