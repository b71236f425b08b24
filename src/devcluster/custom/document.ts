// The OpenAPI v3 document that is published for the custom kinds of one group-version: clients read from it how objects
// merge. Knows nothing about HTTP.

import type { OpenApiDocument, OpenApiSchema } from '../../kube/openapi.ts';
import { bundledSchema } from '../../kube/schemas/bundled.ts';
import { isObject, type JsonObject } from '../../std/json.ts';
import type { ResourceType } from '../resources/resource-type.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** `dev.example.v1.Widget` for the kind Widget of `example.dev/v1`. */
export function schemaNameOf(type: Pick<ResourceType, 'group' | 'version' | 'kind'>): string {
  return [...type.group.split('.').reverse(), type.version, type.kind].join('.');
}

/** One document for all custom kinds of a group-version. */
export function customDocument(types: readonly ResourceType[]): OpenApiDocument {
  const schemas: Record<string, OpenApiSchema> = { ...metaSchemas() };
  for (const type of types) {
    schemas[schemaNameOf(type)] = kindSchema(type);
    schemas[`${schemaNameOf(type)}List`] = listSchema(type);
  }
  return { components: { schemas } };
}

function metaSchemas(): Record<string, OpenApiSchema> {
  const core = bundledSchema('v1')?.components.schemas ?? {};
  return Object.fromEntries(Object.entries(core).filter(([name]) => name.startsWith(META)));
}

function kindSchema(type: ResourceType): OpenApiSchema {
  const schema = (type.custom?.schema ?? {}) as JsonObject;
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
    'x-kubernetes-group-version-kind': [gvk(type, type.kind)],
  };
  return published as OpenApiSchema;
}

function listSchema(type: ResourceType): OpenApiSchema {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${schemaNameOf(type)}` } },
      metadata: { $ref: `#/components/schemas/${META}ListMeta` },
    },
    'x-kubernetes-group-version-kind': [gvk(type, type.listKind)],
  };
}

function gvk({ group, version }: ResourceType, kind: string) {
  return { group, version, kind };
}
