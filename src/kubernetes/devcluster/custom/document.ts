// Builds the OpenAPI v3 document of the custom kinds of one group-version, from which clients learn how objects are
// merged.

import type { JsonObject } from '#std/json.ts';
import type { OpenApiDocument, OpenApiSchema } from '../../rules/openapi.ts';
import { META, metaSchemas, publishedName, publishedSchema } from '../../rules/schemas/published.ts';
import type { ResourceType } from '../resources/resource-type.ts';

export function customDocument(types: readonly ResourceType[]): OpenApiDocument {
  const schemas: Record<string, OpenApiSchema> = { ...metaSchemas() };
  for (const type of types) {
    schemas[publishedName(type)] = publishedSchema(type, (type.custom?.schema ?? {}) as JsonObject);
    schemas[`${publishedName(type)}List`] = listSchema(type);
  }
  return { components: { schemas } };
}

function listSchema(type: ResourceType): OpenApiSchema {
  const { group, version, listKind } = type;
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${publishedName(type)}` } },
      metadata: { $ref: `#/components/schemas/${META}ListMeta` },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  };
}
