// Lists the resources of built-in kinds and of CustomResourceDefinitions.

import { isObject, type JsonObject } from '#std/json.ts';
import { bundledKinds } from '../schemas/bundled.ts';
import { objectOf, objectsOf } from './policy.ts';
import type { ResourceType } from './request.ts';

/** Kinds whose fields differ between two apiVersions, with the other apiVersion. */
const CONVERTED: Readonly<Record<string, string>> = {
  'autoscaling/v2 HorizontalPodAutoscaler': 'autoscaling/v1',
  'v1 Event': 'events.k8s.io/v1',
  'events.k8s.io/v1 Event': 'v1',
};

/**
 * Returns a lookup of types. Built-in kinds take precedence over `types`. Later entries of `types` take precedence over
 * earlier entries.
 */
export function resourceTable(
  types: readonly ResourceType[],
): (apiVersion: string, kind: string) => ResourceType | undefined {
  const table = new Map([...types, ...builtinTypes()].map((type) => [`${type.apiVersion} ${type.kind}`, type]));
  return (apiVersion, kind) => table.get(`${apiVersion} ${kind}`);
}

function builtinTypes(): ResourceType[] {
  return bundledKinds().map(({ apiVersion, kind, plural, namespaced }) => {
    const other = CONVERTED[`${apiVersion} ${kind}`];
    return {
      apiVersion,
      kind,
      plural,
      namespaced,
      others: other === undefined ? [] : [{ apiVersion: other, convertible: false }],
    };
  });
}

/**
 * Returns the served versions of a CustomResourceDefinition. Without a conversion webhook, the versions of an object
 * differ only in the apiVersion.
 */
export function definedTypes(definition: JsonObject): ResourceType[] {
  const { group, scope, names, versions, conversion } = objectOf(definition.spec);
  const { kind, plural } = objectOf(names);
  if (typeof group !== 'string' || typeof kind !== 'string' || typeof plural !== 'string') return [];
  const convertible = !isObject(conversion) || conversion.strategy !== 'Webhook';
  const apiVersions = objectsOf(versions).flatMap(({ name, served }) =>
    typeof name === 'string' && served !== false ? [`${group}/${name}`] : [],
  );
  return apiVersions.map((apiVersion) => ({
    apiVersion,
    kind,
    plural,
    namespaced: scope !== 'Cluster',
    others: apiVersions.filter((other) => other !== apiVersion).map((other) => ({ apiVersion: other, convertible })),
  }));
}
