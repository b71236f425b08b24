// Reads a CustomResourceDefinition into the resource types that it serves. Knows nothing about validation of the CRD
// itself: what does not fit is simply not served.

import type { KubeObject } from '../../kube/object.ts';
import { isObject, type Json, type JsonObject } from '../../std/json.ts';
import type { ResourceType, ScalePaths } from '../resources/resource-type.ts';
import { compareVersions } from '../resources/version-order.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;

/** Where CRDs are stored. */
export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

/** The served versions of an established CRD; none where its names are not accepted yet. */
export function typesOfDefinition(definition: KubeObject): readonly ResourceType[] {
  const spec = definition.spec;
  if (!isObject(spec) || !isObject(spec.names) || !isEstablished(definition)) return [];
  const { names, group, scope, versions } = spec;
  if (typeof group !== 'string' || !Array.isArray(versions)) return [];
  return versions.filter(isObject).flatMap((version) => {
    if (version.served !== true || typeof version.name !== 'string') return [];
    const kind = text(names.kind);
    const plural = text(names.plural);
    const scale = scaleOf(version);
    return {
      group,
      version: version.name,
      kind,
      listKind: text(names.listKind, `${kind}List`),
      plural,
      singular: text(names.singular, kind.toLowerCase()),
      shortNames: texts(names.shortNames),
      categories: texts(names.categories),
      namespaced: scope === 'Namespaced',
      verbs: VERBS,
      hasStatus: isObject(version.subresources) && isObject(version.subresources.status),
      ...(scale === undefined ? {} : { scale }),
      collection: `${group}/${plural}`,
      custom: {
        definition: definition.metadata.name,
        schema: schemaOf(version),
        printerColumns: objects(version.additionalPrinterColumns),
        selectableFields: objects(version.selectableFields).map((field) => text(field.jsonPath).slice(1)),
        ...deprecationOf(definition, version),
      },
    };
  });
}

/** The CRD's own words, or the usual ones. */
function deprecationOf(definition: KubeObject, version: JsonObject): { readonly deprecation?: string } {
  if (version.deprecated !== true || !isObject(definition.spec)) return {};
  const { group, names, versions } = definition.spec;
  const kind = isObject(names) ? text(names.kind) : '';
  const current = objects(versions)
    .filter((other) => other.served === true && other.deprecated !== true)
    .map((other) => text(other.name))
    .sort(compareVersions)[0];
  const instead = current === undefined ? '' : `; use ${text(group)}/${current} ${kind}`;
  return {
    deprecation: text(
      version.deprecationWarning,
      `${text(group)}/${text(version.name)} ${kind} is deprecated${instead}`,
    ),
  };
}

export function isEstablished(definition: KubeObject): boolean {
  return conditionOf(definition, 'Established') === 'True';
}

export function conditionOf(definition: KubeObject, type: string): string | undefined {
  const conditions = isObject(definition.status) ? definition.status.conditions : undefined;
  const found = objects(conditions).find((condition) => condition.type === type);
  return found === undefined ? undefined : text(found.status);
}

export function schemaOf(version: JsonObject): JsonObject {
  const { schema } = version;
  return isObject(schema) && isObject(schema.openAPIV3Schema) ? schema.openAPIV3Schema : {};
}

function scaleOf(version: JsonObject): ScalePaths | undefined {
  const scale = isObject(version.subresources) ? version.subresources.scale : undefined;
  if (!isObject(scale)) return undefined;
  const labelSelector = scale.labelSelectorPath;
  return {
    specReplicas: text(scale.specReplicasPath),
    statusReplicas: text(scale.statusReplicasPath),
    ...(typeof labelSelector === 'string' ? { labelSelector } : {}),
  };
}

function text(value: Json | undefined, otherwise = ''): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
