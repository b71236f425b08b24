// Stores the objects in memory, and writes every change to the journal first. One counter numbers all revisions. Past
// states of a collection can be read while the later changes are in memory. Stored objects are never modified.

import type { KubeObject } from '../../rules/object.ts';
import { keyOfObject, type ObjectKey, placeOf, type StorageChange } from './change.ts';
import type { Journal } from './journal.ts';

/** Number of changes kept in memory for watches and for lists at a past revision. */
const REMEMBERED = 5_000;

export interface Store {
  revision(): number;
  /** Returns the earliest revision from which a watch or list is possible. */
  oldest(): number;
  get(key: ObjectKey): KubeObject | undefined;
  /** Returns objects sorted by namespace and name. */
  list(collection: string, namespace?: string): readonly KubeObject[];
  /** Returns the collection at a past revision, which must be at least `oldest()`. */
  listAt(revision: number, collection: string, namespace?: string): readonly KubeObject[];
  /** Stores a new or changed object under the next revision. Returns the object with this resourceVersion. */
  put(collection: string, object: KubeObject): KubeObject;
  /** Removes an object. Returns its last state with the resourceVersion of the deletion. */
  remove(key: ObjectKey): KubeObject | undefined;
  /** Returns the changes of a collection after a revision, oldest first. The revision must be at least `oldest()`. */
  changesSince(revision: number, collection: string): readonly StorageChange[];
  /** Calls `listener` after each change. The returned function stops the calls. */
  subscribe(listener: (change: StorageChange) => void): () => void;
  /** Returns the collections that have objects. */
  collections(): readonly string[];
  close(): void;
}

interface Collection {
  readonly objects: Map<string, KubeObject>;
  /** Sorted keys of `objects`. undefined after an object was added or removed. */
  order: readonly string[] | undefined;
}

interface StoreState {
  revision: number;
  oldest: number;
  readonly collections: Map<string, Collection>;
  readonly changes: StorageChange[];
}

export function openStore(journal: Journal): Store {
  const state = restore(journal);
  const listeners = new Set<(change: StorageChange) => void>();
  const commit = (change: StorageChange): void => {
    journal.append(change);
    enact(state, change);
    if (journal.bloated(countObjects(state))) journal.rewrite(state.revision, allObjects(state));
    for (const listener of listeners) listener(change);
  };
  return {
    revision: () => state.revision,
    oldest: () => state.oldest,
    get: (key) => state.collections.get(key.collection)?.objects.get(placeOf(key)),
    list: (collection, namespace) => currentList(state, collection, namespace),
    listAt: (revision, collection, namespace) => pastList(state, revision, collection, namespace),
    put: (collection, object) => {
      const change = putChange(state, collection, object);
      commit(change);
      return change.object;
    },
    remove: (key) => {
      const change = removeChange(state, key);
      if (change === undefined) return undefined;
      commit(change);
      return change.object;
    },
    changesSince: (revision, collection) =>
      state.changes.slice(firstAfter(state.changes, revision)).filter((change) => change.key.collection === collection),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    collections: () => [...state.collections].filter(([, { objects }]) => objects.size > 0).map(([name]) => name),
    close: () => journal.close(),
  };
}

function restore(journal: Journal): StoreState {
  const { revision, objects, changes } = journal.restored;
  const state: StoreState = { revision, oldest: revision, collections: new Map(), changes: [] };
  for (const { collection, object } of objects) {
    const place = placeOf(keyOfObject(collection, object));
    collectionOf(state, collection).objects.set(place, object);
  }
  for (const { type, key, object } of changes) {
    const previous = state.collections.get(key.collection)?.objects.get(placeOf(key));
    const known = previous === undefined ? {} : { previous };
    enact(state, { type, key, object, revision: Number(object.metadata.resourceVersion), ...known });
  }
  return state;
}

function putChange(state: StoreState, collection: string, object: KubeObject): StorageChange {
  const key = keyOfObject(collection, object);
  const previous = state.collections.get(collection)?.objects.get(placeOf(key));
  const revision = state.revision + 1;
  const stored = withRevision(object, revision);
  return previous === undefined
    ? { revision, type: 'ADDED', key, object: stored }
    : { revision, type: 'MODIFIED', key, object: stored, previous };
}

function removeChange(state: StoreState, key: ObjectKey): StorageChange | undefined {
  const previous = state.collections.get(key.collection)?.objects.get(placeOf(key));
  if (previous === undefined) return undefined;
  const revision = state.revision + 1;
  return { revision, type: 'DELETED', key, object: withRevision(previous, revision), previous };
}

function withRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function enact(state: StoreState, change: StorageChange): void {
  const collection = collectionOf(state, change.key.collection);
  const place = placeOf(change.key);
  if (change.type === 'DELETED') collection.objects.delete(place);
  else collection.objects.set(place, change.object);
  if (change.type !== 'MODIFIED') collection.order = undefined;
  state.revision = change.revision;
  state.changes.push(change);
  if (state.changes.length >= REMEMBERED * 2) {
    const forgotten = state.changes.splice(0, REMEMBERED);
    state.oldest = forgotten.at(-1)?.revision ?? state.oldest;
  }
}

function collectionOf(state: StoreState, name: string): Collection {
  const known = state.collections.get(name);
  if (known !== undefined) return known;
  const fresh: Collection = { objects: new Map(), order: undefined };
  state.collections.set(name, fresh);
  return fresh;
}

function currentList(state: StoreState, name: string, namespace: string | undefined): readonly KubeObject[] {
  const collection = state.collections.get(name);
  if (collection === undefined) return [];
  collection.order ??= [...collection.objects.keys()].sort(byBytes);
  const listed: KubeObject[] = [];
  for (const place of collection.order) {
    if (namespace !== undefined && !place.startsWith(`${namespace}/`)) continue;
    const object = collection.objects.get(place);
    if (object !== undefined) listed.push(object);
  }
  return listed;
}

/** Returns a past state, by undoing later changes on a copy, newest first. */
function pastList(
  state: StoreState,
  revision: number,
  name: string,
  namespace: string | undefined,
): readonly KubeObject[] {
  const later = state.changes.slice(firstAfter(state.changes, revision)).filter((c) => c.key.collection === name);
  if (later.length === 0) return currentList(state, name, namespace);
  const objects = new Map(state.collections.get(name)?.objects);
  for (const change of later.reverse()) {
    const place = placeOf(change.key);
    if (change.previous === undefined) objects.delete(place);
    else objects.set(place, change.previous);
  }
  const places = [...objects.keys()].filter((place) => namespace === undefined || place.startsWith(`${namespace}/`));
  return places.sort(byBytes).flatMap((place) => objects.get(place) ?? []);
}

/** Returns the index of the first change after the revision by binary search. */
function firstAfter(changes: readonly StorageChange[], revision: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Compares by code units, which equals a comparison by bytes, because names are ASCII. */
function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function countObjects(state: StoreState): number {
  let count = 0;
  for (const { objects } of state.collections.values()) count += objects.size;
  return count;
}

function* allObjects(state: StoreState): Generator<{ collection: string; object: KubeObject }> {
  for (const [collection, { objects }] of state.collections) {
    for (const object of objects.values()) yield { collection, object };
  }
}
