// Renders the volume claim in which each pod of an EmbeddingServer stores models. Kubernetes refuses changed claim
// templates, so an existing StatefulSet keeps its templates, and the status reports the difference.

import { storedQuantity } from '#kubernetes/rules/quantity.ts';
import { isObject, type Json, type JsonObject, jsonEquals } from '#std/json.ts';
import type { View } from '../kind.ts';
import type { Embedding } from './facts.ts';

export const CACHE_VOLUME = 'model-cache';

export interface Cache {
  /** `volumeClaimTemplates` of the StatefulSet. If empty, models are lost when a pod is deleted. */
  readonly templates: readonly JsonObject[];
  /** Sentence about a difference that cannot be applied. Not set if the templates are as declared. */
  readonly deviation?: string;
}

export function cacheOf(self: Embedding, view: View): Cache {
  const desired = claimTemplates(self);
  const living = livingTemplates(self, view);
  if (living === undefined || jsonEquals(living, desired)) return { templates: desired };
  return { templates: living, deviation: deviation(desired, living) };
}

function claimTemplates({ spec }: Embedding): JsonObject[] {
  const { modelCache, resourceOverrides } = spec;
  if (modelCache?.enabled !== true) return [];
  const { labels, annotations } = resourceOverrides?.persistentVolumeClaim ?? {};
  const metadata = {
    name: CACHE_VOLUME,
    ...memberIfFilled('labels', labels),
    ...memberIfFilled('annotations', annotations),
  };
  const { size, accessMode, storageClassName } = modelCache;
  return [
    {
      metadata,
      spec: {
        accessModes: [accessMode],
        resources: { requests: { storage: storedQuantity(size) ?? size } },
        storageClassName,
      },
    },
  ];
}

/**
 * Returns the existing templates without the API server's own fields (`status`, `volumeMode`); undefined if the
 * StatefulSet does not exist.
 */
function livingTemplates({ name }: Embedding, view: View): JsonObject[] | undefined {
  const spec = view.find('StatefulSet', name)?.spec;
  if (!isObject(spec)) return undefined;
  const templates = Array.isArray(spec.volumeClaimTemplates) ? spec.volumeClaimTemplates : [];
  return templates.filter(isObject).map(({ metadata, spec: claim }) => {
    const { name: volume, labels, annotations } = isObject(metadata) ? metadata : {};
    const { accessModes, resources, storageClassName } = isObject(claim) ? claim : {};
    return {
      metadata: {
        ...given('name', volume),
        ...memberIfFilled('labels', labels),
        ...memberIfFilled('annotations', annotations),
      },
      spec: {
        ...given('accessModes', accessModes),
        ...given('resources', resources),
        ...given('storageClassName', storageClassName),
      },
    };
  });
}

function deviation(desired: readonly JsonObject[], living: readonly JsonObject[]): string {
  if (living.length === 0) return 'the StatefulSet has no cache';
  if (desired.length === 0) return 'the StatefulSet has a cache';
  const [before, after] = [described(living), described(desired)];
  return before === after
    ? 'labels or annotations of the claims differ'
    : `the cache in the cluster is ${before}, declared is ${after}`;
}

function described(templates: readonly JsonObject[]): string {
  return templates
    .map(({ spec }) => {
      const { accessModes, resources, storageClassName } = isObject(spec) ? spec : {};
      const { storage } = isObject(resources) && isObject(resources.requests) ? resources.requests : {};
      const storageClass = storageClassName === undefined ? '' : ` of class ${storageClassName}`;
      return `${storage}${storageClass}, ${Array.isArray(accessModes) ? accessModes.join(' ') : ''}`;
    })
    .join('; ');
}

function given(key: string, value: Json | undefined): JsonObject {
  return value === undefined || value === null ? {} : { [key]: value };
}

function memberIfFilled(key: string, value: unknown): JsonObject {
  return isObject(value) && Object.keys(value).length > 0 ? { [key]: { ...value } } : {};
}
