// Stores the objects of one list from the last LIST, later events and our own writes. Each of these three may arrive
// late, so resourceVersions decide which state is newer.

import { type KubeObject, keyOfObject } from '#kubernetes/rules/object.ts';
import type { WatchEvent } from '../watch.ts';
import { isLater } from './versions.ts';

export interface ObjectChange {
  /** Absent if the object was created. */
  readonly before?: KubeObject | undefined;
  /** Absent if the object was deleted. */
  readonly after?: KubeObject | undefined;
}

interface ListedNow {
  readonly version: string;
  readonly objects: readonly KubeObject[];
}

/** State of the list at the start of a LIST request. */
interface ListBegun {
  /** The latest known resourceVersion. */
  readonly latest: string;
  readonly doubts: ReadonlySet<string>;
}

export interface KeptList {
  /** Must be called before a LIST begins. */
  beginList(): ListBegun;
  /** Stores the response of a LIST. Returns the differences from the previously known objects by key. */
  replace(listed: ListedNow, begun: ListBegun): ReadonlyMap<string, ObjectChange>;
  /** Applies an event. undefined if the event is older than the known object. */
  take(event: WatchEvent): ObjectChange | undefined;
  /** Stores the response of our own write. `belongs` is false if the object no longer matches the list's selector. */
  write(object: KubeObject, belongs: boolean): void;
  /**
   * Marks an object as uncertain, because we delete it or because the result of our write is unknown. The uncertainty
   * ends with an event that shows the deletion, or with a LIST that begins later.
   */
  doubt(key: string): void;
  hasDoubts(): boolean;
  find(key: string): KubeObject | undefined;
  /** Returns the objects in the order of a LIST response. `hold` has the meaning of ListOptions.hold. */
  objects(hold?: (object: KubeObject) => KubeObject): readonly KubeObject[];
  clear(): void;
}

/** Maximum number of remembered deletions. The oldest are dropped, because their events have long arrived. */
const DELETIONS_MAX = 10_000;

interface ListState {
  objects: Map<string, KubeObject>;
  /** Events up to this resourceVersion are ignored, because the last LIST includes them. */
  floor: string;
  /** The latest resourceVersion of any LIST, event or write. */
  latest: string;
  /** resourceVersions of deletions by key. A LIST that began before a deletion may arrive after it. */
  readonly deletions: Map<string, string>;
  readonly doubts: Set<string>;
  isSorted: boolean;
}

export function createKeptList(): KeptList {
  const state: ListState = {
    objects: new Map(),
    floor: '',
    latest: '',
    deletions: new Map(),
    doubts: new Set(),
    isSorted: true,
  };
  return {
    beginList: () => ({ latest: state.latest, doubts: new Set(state.doubts) }),
    replace: (listed, begun) => replaceAll(state, listed, begun),
    take: (event) => applyEvent(state, event),
    write(object, belongs) {
      const key = keyOfObject(object);
      const version = versionOf(object);
      if (!isNews(state, key, version)) return;
      if (belongs) put(state, key, object);
      else deleteAt(state, key, version);
    },
    doubt: (key) => void state.doubts.add(key),
    hasDoubts: () => state.doubts.size > 0,
    find: (key) => state.objects.get(key),
    objects(hold) {
      if (!state.isSorted) sort(state);
      if (hold !== undefined) for (const [key, object] of state.objects) state.objects.set(key, hold(object));
      return [...state.objects.values()];
    },
    clear: () => clear(state),
  };
}

/** Drops all objects and deletions. Doubts remain until a LIST that began after them. */
function clear(state: ListState): void {
  state.objects.clear();
  state.deletions.clear();
  state.floor = '';
  state.latest = '';
}

function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? '';
}

function isNews({ objects, floor, deletions }: ListState, key: string, version: string): boolean {
  const known = objects.get(key);
  const deleted = deletions.get(key);
  if (known !== undefined) return isLater(version, versionOf(known));
  return isLater(version, floor) && (deleted === undefined || isLater(version, deleted));
}

function put(state: ListState, key: string, object: KubeObject): void {
  if (!state.objects.has(key)) state.isSorted = false;
  state.objects.set(key, object);
  noteVersion(state, versionOf(object));
}

function deleteAt(state: ListState, key: string, version: string): void {
  const { objects, deletions } = state;
  const [oldest] = deletions.keys();
  if (deletions.size >= DELETIONS_MAX && oldest !== undefined) deletions.delete(oldest);
  deletions.set(key, version);
  objects.delete(key);
  noteVersion(state, version);
}

function noteVersion(state: ListState, version: string): void {
  if (isLater(version, state.latest)) state.latest = version;
}

function applyEvent(state: ListState, { type, object }: WatchEvent): ObjectChange | undefined {
  const { objects, doubts } = state;
  const key = keyOfObject(object);
  const version = versionOf(object);
  const before = objects.get(key);
  // The event of a deletion may have the resourceVersion of the deleted object.
  const isDeletion = type === 'DELETED' && before !== undefined && !isLater(versionOf(before), version);
  if (!isDeletion && (!isLater(version, state.floor) || !isNews(state, key, version))) return undefined;
  // The line above skipped older events. The event of an earlier deletion must not confirm a later deletion.
  if (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined) doubts.delete(key);
  if (type !== 'DELETED') {
    put(state, key, object);
    return { before, after: object };
  }
  deleteAt(state, key, version);
  return before === undefined ? undefined : { before };
}

function replaceAll(
  state: ListState,
  { version, objects }: ListedNow,
  begun: ListBegun,
): ReadonlyMap<string, ObjectChange> {
  // If the server was restored from a backup, its counter restarts at an earlier resourceVersion. Objects without a
  // version cannot be compared.
  if (version === '' || isLater(begun.latest, version)) clear(state);
  const { objects: known, deletions } = state;
  const next = new Map<string, KubeObject>();
  const different = new Map<string, ObjectChange>();
  for (const object of objects) {
    const key = keyOfObject(object);
    const deleted = deletions.get(key);
    if (deleted !== undefined && isLater(deleted, version)) continue;
    const before = known.get(key);
    if (before !== undefined && isLater(versionOf(before), versionOf(object))) next.set(key, before);
    else next.set(key, object);
    if (before === undefined || isLater(versionOf(object), versionOf(before)))
      different.set(key, { before, after: object });
  }
  for (const [key, object] of known) {
    if (next.has(key)) continue;
    if (isLater(versionOf(object), version)) next.set(key, object);
    else different.set(key, { before: object });
  }
  for (const [key, deleted] of deletions) if (!isLater(deleted, version)) deletions.delete(key);
  Object.assign(state, { objects: next, floor: version, isSorted: false });
  noteVersion(state, version);
  for (const key of begun.doubts) state.doubts.delete(key);
  return different;
}

/** Sorts objects by their keys in etcd. */
function sort(state: ListState): void {
  const named = [...state.objects].map(([key, object]) => ({ key, object, place: orderOf(object) }));
  named.sort((a, b) => (a.place < b.place ? -1 : 1));
  state.objects = new Map(named.map(({ key, object }) => [key, object]));
  state.isSorted = true;
}

function orderOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
