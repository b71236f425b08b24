// Declares the common fields of Kubernetes objects, as type aliases because interfaces are not assignable to
// JsonObject.

import type { Json, JsonObject } from '#std/json.ts';
import type { ResourceId } from '#std/problem.ts';

export type OwnerReference = {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
};

export type ManagedFieldsEntry = {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  fieldsType: 'FieldsV1';
  fieldsV1: JsonObject;
  subresource?: string;
  time?: string;
};

export type ObjectMeta = {
  name: string;
  /** Prefix of the name that the server generates if `name` is absent. */
  generateName?: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  managedFields?: ManagedFieldsEntry[];
};

/** An object exactly as the API server sends and accepts it. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: Json | undefined;
};

export function idOf(object: KubeObject): ResourceId {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name } = metadata;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, namespace, name };
}

/** Returns the group of an apiVersion. Empty for the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** Cached, because a run needs the key of each declared object about thirty times. */
const keys = new WeakMap<ResourceId, string>();

/** Returns the identity of an object, `group/Kind/namespace/name`, which is the same in all versions. */
export function keyOf(id: ResourceId): string {
  const known = keys.get(id);
  if (known !== undefined) return known;
  const key = `${groupOf(id.apiVersion)}/${id.kind}/${id.namespace ?? ''}/${id.name}`;
  keys.set(id, key);
  return key;
}

const keysOfObjects = new WeakMap<KubeObject, string>();

/** Returns `keyOf(idOf(object))`, computed once for each object. The identity of the object must not change. */
export function keyOfObject(object: KubeObject): string {
  const known = keysOfObjects.get(object);
  if (known !== undefined) return known;
  const key = keyOf(idOf(object));
  keysOfObjects.set(object, key);
  return key;
}
