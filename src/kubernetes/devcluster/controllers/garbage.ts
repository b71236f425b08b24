// Deletes objects whose owners no longer exist, and finishes foreground deletions (Kubernetes documentation, "Garbage
// Collection").

import type { KubeObject, OwnerReference } from '../../rules/object.ts';
import { groupOf } from '../../rules/object.ts';
import type { ApiContext } from '../api/context.ts';
import { keyOfObject, type ObjectKey, placeOf, type StorageChange } from '../storage/change.ts';
import type { WorkQueue } from './queue.ts';
import { writeChange, writeRemoval } from './writer.ts';

const MANAGER = 'kube-controller-manager';
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

interface Garbage {
  readonly context: ApiContext;
  readonly queue: WorkQueue;
  /** Keys of dependents by the uid of their owner. */
  readonly dependents: Map<string, Map<string, ObjectKey>>;
  /** Keys of existing objects by uid. */
  readonly living: Map<string, ObjectKey>;
}

/** Starts the controller. The returned function stops it. */
export function controlGarbage(context: ApiContext, queue: WorkQueue): () => void {
  const garbage: Garbage = { context, queue, dependents: new Map(), living: new Map() };
  for (const collection of context.store.collections()) {
    for (const object of context.store.list(collection)) remember(garbage, keyOfObject(collection, object), object);
  }
  for (const key of garbage.living.values()) enqueue(garbage, key);
  return context.store.subscribe((change) => follow(garbage, change));
}

function follow(garbage: Garbage, { type, key, object, previous }: StorageChange): void {
  if (previous !== undefined) forget(garbage, key, previous);
  if (type !== 'DELETED') remember(garbage, key, object);
  const { uid } = object.metadata;
  const dependents = [...(garbage.dependents.get(uid ?? '')?.values() ?? [])];
  const going = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
  if (going) for (const dependent of dependents) enqueue(garbage, dependent);
  if (type !== 'DELETED') enqueue(garbage, key);
  // An owner in foreground deletion is checked again when one of its dependents changes or is deleted.
  for (const owner of previous?.metadata.ownerReferences ?? []) {
    const waiting = garbage.living.get(owner.uid);
    if (waiting !== undefined) enqueue(garbage, waiting);
  }
}

function remember({ living, dependents }: Garbage, key: ObjectKey, object: KubeObject): void {
  const { uid, ownerReferences = [] } = object.metadata;
  if (uid !== undefined) living.set(uid, key);
  for (const owner of ownerReferences) {
    const known = dependents.get(owner.uid) ?? new Map<string, ObjectKey>();
    known.set(`${key.collection}/${placeOf(key)}`, key);
    dependents.set(owner.uid, known);
  }
}

function forget({ living, dependents }: Garbage, key: ObjectKey, object: KubeObject): void {
  const { uid, ownerReferences = [] } = object.metadata;
  if (uid !== undefined) living.delete(uid);
  for (const owner of ownerReferences) {
    const known = dependents.get(owner.uid);
    known?.delete(`${key.collection}/${placeOf(key)}`);
    if (known?.size === 0) dependents.delete(owner.uid);
  }
}

function enqueue(garbage: Garbage, key: ObjectKey): void {
  const { metadata } = garbage.context.store.get(key) ?? {};
  if (metadata === undefined) return;
  const concerned = metadata.ownerReferences !== undefined || metadata.deletionTimestamp !== undefined;
  if (concerned) garbage.queue.add(`garbage/${key.collection}/${placeOf(key)}`, () => settleObject(garbage, key));
}

function settleObject(garbage: Garbage, key: ObjectKey): void {
  const object = garbage.context.store.get(key);
  if (object === undefined) return;
  const finalizers = object.metadata.finalizers ?? [];
  if (object.metadata.deletionTimestamp !== undefined) {
    if (finalizers.includes(ORPHAN)) orphanDependents(garbage, key, object);
    else if (finalizers.includes(FOREGROUND)) awaitDependents(garbage, key, object);
    return;
  }
  settleDependent(garbage, key, object);
}

/** Removes references to owners that do not exist. Deletes the object if no owner is left. */
function settleDependent(garbage: Garbage, key: ObjectKey, object: KubeObject): void {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0) return;
  const states = owners.map((owner) => ({ owner, state: ownerState(garbage, key, owner) }));
  const solid = states.filter(({ state }) => state === 'solid');
  const waiting = states.filter(({ state }) => state === 'waiting');
  if (solid.length > 0) {
    if (solid.length === owners.length) return;
    const kept = new Set(solid.map(({ owner }) => owner.uid));
    writeOwners(garbage, key, (reference) => kept.has(reference.uid));
    return;
  }
  const hasDependents = (garbage.dependents.get(object.metadata.uid ?? '')?.size ?? 0) > 0;
  const foreground = waiting.length > 0 && hasDependents;
  const isOrphaning = (object.metadata.finalizers ?? []).includes(ORPHAN)
    ? 'Orphan'
    : foreground
      ? 'Foreground'
      : 'Background';
  const { uid } = object.metadata;
  writeRemoval(garbage.context, key.collection, object, {
    propagation: isOrphaning,
    ...(uid === undefined ? {} : { uid }),
  });
}

/**
 * Returns the state of an owner. `waiting`: the owner is in foreground deletion. `absent`: no object of this kind and
 * name has the uid, or the object is in another namespace. `solid`: the owner exists.
 */
function ownerState(garbage: Garbage, dependent: ObjectKey, owner: OwnerReference): 'solid' | 'waiting' | 'absent' {
  const key = garbage.living.get(owner.uid);
  const object = key === undefined ? undefined : garbage.context.store.get(key);
  if (key === undefined || object === undefined || !isThat(garbage, key, object, owner)) return 'absent';
  if (key.namespace !== '' && key.namespace !== dependent.namespace) return 'absent';
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'solid';
}

function isThat({ context }: Garbage, key: ObjectKey, object: KubeObject, owner: OwnerReference): boolean {
  const kind = context.types.all().find((type) => type.collection === key.collection)?.kind;
  const group = key.collection.slice(0, key.collection.indexOf('/'));
  return object.metadata.name === owner.name && kind === owner.kind && group === groupOf(owner.apiVersion);
}

function writeOwners({ context }: Garbage, key: ObjectKey, keeps: (owner: OwnerReference) => boolean): void {
  writeChange(context, key.collection, MANAGER, key, (old) => {
    const { ownerReferences = [], ...metadata } = old.metadata;
    const kept = ownerReferences.filter(keeps);
    return { ...old, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
  });
}

function orphanDependents(garbage: Garbage, key: ObjectKey, owner: KubeObject): void {
  const { uid } = owner.metadata;
  for (const dependent of [...(garbage.dependents.get(uid ?? '')?.values() ?? [])]) {
    writeOwners(garbage, dependent, (reference) => reference.uid !== uid);
  }
  dropFinalizer(garbage, key, ORPHAN);
}

/** Finishes the foreground deletion of an owner when no dependent with `blockOwnerDeletion` is left. */
function awaitDependents(garbage: Garbage, key: ObjectKey, owner: KubeObject): void {
  const { uid } = owner.metadata;
  const dependents = [...(garbage.dependents.get(uid ?? '')?.values() ?? [])];
  const blocking = dependents.filter((dependent) => {
    const references = garbage.context.store.get(dependent)?.metadata.ownerReferences ?? [];
    return references.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true);
  });
  if (blocking.length === 0) dropFinalizer(garbage, key, FOREGROUND);
  else for (const dependent of blocking) enqueue(garbage, dependent);
}

function dropFinalizer({ context }: Garbage, key: ObjectKey, finalizer: string): void {
  writeChange(context, key.collection, MANAGER, key, (old) => {
    const finalizers = (old.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    return { ...old, metadata: { ...old.metadata, finalizers } };
  });
}
