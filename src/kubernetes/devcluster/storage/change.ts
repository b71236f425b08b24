// Defines the types of the storage: objects by collection, and changes in the order of their revisions.

import type { KubeObject } from '../../rules/object.ts';

/** The place of an object in storage. All served versions of a kind share a collection. */
export interface ObjectKey {
  /** `group/plural`. The core group is the empty string. */
  readonly collection: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** A committed write. The revision is the `metadata.resourceVersion` of `object`. */
export interface Change {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: ObjectKey;
  /** The object after the write. For a deletion, its last state with the deletion's revision. */
  readonly object: KubeObject;
  /** The object before the write. Absent if it was added. */
  readonly previous?: KubeObject;
}

/** Returns `namespace/name`: the place of an object in its collection, by which lists are sorted. */
export function placeOf(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

export function keyOfObject(collection: string, object: KubeObject): ObjectKey {
  return { collection, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
