// What storage holds and remembers: objects by collection, and changes in the order of their revisions.

import type { KubeObject } from '../../rules/object.ts';

/** Where an object is stored. All served versions of a kind share a collection. */
export interface ObjectKey {
  /** `group/plural`; the core group is the empty string. */
  readonly collection: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** One committed write. The revision is the `metadata.resourceVersion` of `object`. */
export interface Change {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: ObjectKey;
  /** The object after the write; for a deletion its last state, carrying the deletion's revision. */
  readonly object: KubeObject;
  /** The object before the write; absent where it was added. */
  readonly previous?: KubeObject;
}

/** `namespace/name`: the place of an object in its collection, in the order in which lists go. */
export function placeOf(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`;
}

export function keyOfObject(collection: string, object: KubeObject): ObjectKey {
  return { collection, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}
