// Creates the OpenAPI documents of kinds without a server, as an API server would publish them.

import type { OpenApiDocument } from '#kubernetes/rules/openapi.ts';
import { bundledSchema } from '#kubernetes/rules/schemas/bundled.ts';
import { metaSchemas, publishedName, publishedSchema } from '#kubernetes/rules/schemas/published.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { structuralSchema, VERSIONS } from '../../kinds/crd.ts';
import type { Kind } from '../../kinds/kind.ts';

export interface PublishedKinds {
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  /** CustomResourceDefinitions of kinds that are neither built-in nor ours. */
  readonly definitions: readonly JsonObject[];
}

/** Returns the document of a group-version: from our schemas, from `definitions`, or bundled for built-in kinds. */
export function publishedDocument(
  { kinds, apiGroup, definitions }: PublishedKinds,
  apiVersion: string,
): OpenApiDocument | undefined {
  if (VERSIONS.some((version) => apiVersion === `${apiGroup}/${version}`)) {
    return documentOf(
      apiVersion,
      kinds.map((kind) => [kind.kind, structuralSchema(kind)]),
    );
  }
  const defined = definitions.flatMap(({ spec }) => definedKinds(spec, apiVersion));
  return defined.length > 0 ? documentOf(apiVersion, defined) : bundledSchema(apiVersion);
}

function definedKinds(spec: unknown, apiVersion: string): [string, JsonObject][] {
  if (!isObject(spec) || !isObject(spec.names) || !Array.isArray(spec.versions)) return [];
  const { group, names, versions } = spec;
  return versions.flatMap((version): [string, JsonObject][] => {
    if (!isObject(version) || `${String(group)}/${String(version.name)}` !== apiVersion) return [];
    const schema = isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    return isObject(schema) ? [[String(names.kind), schema]] : [];
  });
}

function documentOf(apiVersion: string, kinds: readonly (readonly [string, JsonObject])[]): OpenApiDocument {
  const [group = '', version = ''] = apiVersion.split('/');
  const own = kinds.map(([kind, schema]) => {
    const type = { group, version, kind };
    return [publishedName(type), publishedSchema(type, schema)] as const;
  });
  return { components: { schemas: { ...metaSchemas(), ...Object.fromEntries(own) } } };
}

/** Returns a document for an unknown kind. It allows any field, and treats each list as atomic. */
export function openDocument(apiVersion: string, kind: string): OpenApiDocument {
  return documentOf(apiVersion, [[kind, { 'x-kubernetes-preserve-unknown-fields': true }]]);
}
