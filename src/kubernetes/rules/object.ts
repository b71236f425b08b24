// The envelope every Kubernetes object has. Type aliases, not interfaces: only they are assignable to JsonObject, so that an
// object needs no cast to be walked as JSON.

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
  /** Prefix of the name that the server makes where none is given. */
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

/** One object as the API server sends and takes it, verbatim. */
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

/** The group of an apiVersion; the core group is the empty string. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/** The version of an apiVersion. */
export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** A run asks some thirty times for the key of each declared object, and a text is hashed anew each time that it is made. */
const keys = new WeakMap<ResourceId, string>();

/** Identity across versions: `group/Kind/namespace/name`, the same object whatever version it is read in. */
export function keyOf(id: ResourceId): string {
  const known = keys.get(id);
  if (known !== undefined) return known;
  const key = `${groupOf(id.apiVersion)}/${id.kind}/${id.namespace ?? ''}/${id.name}`;
  keys.set(id, key);
  return key;
}

const keysOfObjects = new WeakMap<KubeObject, string>();

/** `keyOf(idOf(object))`, computed once for each object: its identity must not change. */
export function keyOfObject(object: KubeObject): string {
  const known = keysOfObjects.get(object);
  if (known !== undefined) return known;
  const key = keyOf(idOf(object));
  keysOfObjects.set(object, key);
  return key;
}
