// Reads the resource types that a CustomResourceDefinition serves.

import { isObject, type Json, type JsonObject, objectsIn, textsIn } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import type { ResourceType, ScalePaths } from '../resources/resource-type.ts';
import { compareVersions } from '../resources/version-order.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;

export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

/** Returns the served versions of a CRD. Empty if the CRD is not established. */
export function typesOfDefinition(definition: KubeObject): readonly ResourceType[] {
  const spec = definition.spec;
  if (!isObject(spec) || !isObject(spec.names) || !isEstablished(definition)) return [];
  const { names, group, scope, versions } = spec;
  if (typeof group !== 'string' || !Array.isArray(versions)) return [];
  return versions.filter(isObject).flatMap((version) => {
    if (version.served !== true || typeof version.name !== 'string') return [];
    const kind = textOrElse(names.kind);
    const plural = textOrElse(names.plural);
    const scale = scaleOf(version);
    return {
      group,
      version: version.name,
      kind,
      listKind: textOrElse(names.listKind, `${kind}List`),
      plural,
      singular: textOrElse(names.singular, kind.toLowerCase()),
      shortNames: textsIn(names.shortNames),
      categories: textsIn(names.categories),
      namespaced: scope === 'Namespaced',
      verbs: VERBS,
      hasStatus: isObject(version.subresources) && isObject(version.subresources.status),
      scale,
      collection: `${group}/${plural}`,
      custom: {
        definition: definition.metadata.name,
        schema: schemaOf(version),
        printerColumns: objectsIn(version.additionalPrinterColumns),
        selectableFields: objectsIn(version.selectableFields).map((field) => textOrElse(field.jsonPath).slice(1)),
        ...deprecationOf(definition, version),
      },
    };
  });
}

/** Returns the CRD's deprecation warning, or the default warning. */
function deprecationOf(definition: KubeObject, version: JsonObject): { readonly deprecation?: string } {
  if (version.deprecated !== true || !isObject(definition.spec)) return {};
  const { group, names, versions } = definition.spec;
  const kind = isObject(names) ? textOrElse(names.kind) : '';
  const current = objectsIn(versions)
    .filter((other) => other.served === true && other.deprecated !== true)
    .map((other) => textOrElse(other.name))
    .sort(compareVersions)[0];
  const instead = current === undefined ? '' : `; use ${textOrElse(group)}/${current} ${kind}`;
  return {
    deprecation: textOrElse(
      version.deprecationWarning,
      `${textOrElse(group)}/${textOrElse(version.name)} ${kind} is deprecated${instead}`,
    ),
  };
}

function isEstablished(definition: KubeObject): boolean {
  return conditionOf(definition, 'Established') === 'True';
}

function conditionOf(definition: KubeObject, type: string): string | undefined {
  const conditions = isObject(definition.status) ? definition.status.conditions : undefined;
  const found = objectsIn(conditions).find((condition) => condition.type === type);
  return found === undefined ? undefined : textOrElse(found.status);
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
    specReplicas: textOrElse(scale.specReplicasPath),
    statusReplicas: textOrElse(scale.statusReplicasPath),
    labelSelector: typeof labelSelector === 'string' ? labelSelector : undefined,
  };
}

function textOrElse(value: Json | undefined, otherwise = ''): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
