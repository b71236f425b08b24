// Finds and replaces the images in the pod template of a Kubernetes object.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject, type JsonObject, objectsIn } from '#std/json.ts';

/** Images, pull secrets and service account of a pod. Images include init containers and image volumes. */
export interface PodImages {
  readonly images: readonly string[];
  readonly pullSecrets: readonly string[];
  readonly serviceAccount: string;
}

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** Returns undefined if the object has no pod template. */
export function podImages(object: KubeObject): PodImages | undefined {
  const pod = specOfPods(object);
  if (pod === undefined) return undefined;
  const containers = CONTAINERS.flatMap((field) => objectsIn(pod[field])).map(({ image }) => image);
  const volumes = objectsIn(pod.volumes).map(({ image }) => (isObject(image) ? image.reference : undefined));
  const names = objectsIn(pod.imagePullSecrets).map(({ name }) => name);
  const { serviceAccountName } = pod;
  return {
    images: [...new Set([...containers, ...volumes].filter((image) => typeof image === 'string' && image !== ''))].map(
      String,
    ),
    pullSecrets: names.filter((name) => typeof name === 'string'),
    serviceAccount: typeof serviceAccountName === 'string' ? serviceAccountName : 'default',
  };
}

/** Path of the pod spec, for kinds that differ from Deployments. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

const TEMPLATE = ['spec', 'template', 'spec'];

function specOfPods(object: KubeObject): JsonObject | undefined {
  let value: unknown = object;
  for (const field of TEMPLATES[object.kind] ?? TEMPLATE) value = isObject(value) ? value[field] : undefined;
  return isObject(value) ? value : undefined;
}

/** Returns the object with its images replaced. `pins` maps old names to new names. */
export function withImages(object: KubeObject, pins: ReadonlyMap<string, string>): KubeObject {
  const copy = structuredClone(object);
  const pod = specOfPods(copy);
  if (pod === undefined) return object;
  for (const container of CONTAINERS.flatMap((field) => objectsIn(pod[field]))) {
    if (typeof container.image === 'string') container.image = pins.get(container.image) ?? container.image;
  }
  for (const { image } of objectsIn(pod.volumes)) {
    if (isObject(image) && typeof image.reference === 'string')
      image.reference = pins.get(image.reference) ?? image.reference;
  }
  return copy;
}
