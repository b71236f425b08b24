// Defines the types of the storage: keys of objects, and changes in the order of their revisions.

import type { KubeObject } from '../../rules/object.ts';

/** The location of an object in storage. All served versions of a kind share a collection. */
export interface ObjectKey {
  /** `group/plural`. The core group is empty. */
  readonly collection: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** A committed write. `object` has the revision as its `metadata.resourceVersion`. */
export interface StorageChange {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: ObjectKey;
  /** The object after the write. For a deletion, its last state with the revision of the deletion. */
  readonly object: KubeObject;
  /** The object before the write. Absent for a creation. */
  readonly previous?: KubeObject;
}

/** Returns `namespace/name`, by which lists of a collection are sorted. */
export function placeOf(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

export function keyOfObject(collection: string, object: KubeObject): ObjectKey {
  return { collection, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
