// The objects of one list as the last LIST, the events after it and our own writes have them. Each of these may arrive late: the
// versions decide which one counts.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { WatchEvent } from '../watch.ts';
import { isLater } from './versions.ts';

/** How one object changed. */
export interface Change {
  /** Absent: the object was created. */
  readonly before?: KubeObject | undefined;
  /** Absent: the object was deleted. */
  readonly after?: KubeObject | undefined;
}

interface ListedNow {
  readonly version: string;
  readonly objects: readonly KubeObject[];
}

export interface KeptList {
  /** Takes over the answer of a LIST. Returns, by key, how objects differ from all that was known about them. */
  replace(listed: ListedNow): ReadonlyMap<string, Change>;
  /** Returns undefined if the event is older than the object that is known. */
  take(event: WatchEvent): Change | undefined;
  /** Takes over the answer of our own write. `belongs`: false if the list no longer has the object. */
  write(object: KubeObject, belongs: boolean): void;
  /** The object is not known until an event shows its deletion: our own deletion was accepted, or a write had no clear answer. */
  doubt(key: string): void;
  hasDoubts(): boolean;
  version(key: string): string | undefined;
  /** In the order of the server. `hold`: see ListOptions. */
  objects(hold?: (object: KubeObject) => KubeObject): readonly KubeObject[];
  clear(): void;
}

/** Older deletions are no longer remembered: their events have long been delivered. */
const DELETIONS_MAX = 10_000;

interface State {
  objects: Map<string, KubeObject>;
  /** Events up to this version say nothing new. */
  floor: string;
  /** Versions of deletions, by key: a LIST that began before one may arrive after it. */
  readonly deletions: Map<string, string>;
  readonly doubts: Set<string>;
  isSorted: boolean;
}

export function createKeptList(): KeptList {
  const state: State = { objects: new Map(), floor: '', deletions: new Map(), doubts: new Set(), isSorted: true };
  return {
    replace: (listed) => replaceAll(state, listed),
    take: (event) => applyEvent(state, event),
    write(object, belongs) {
      const key = keyOf(idOf(object));
      const version = versionOf(object);
      if (!isNews(state, key, version)) return;
      if (belongs) put(state, key, object);
      else state.objects.delete(key);
    },
    doubt: (key) => void state.doubts.add(key),
    hasDoubts: () => state.doubts.size > 0,
    version(key) {
      const found = state.objects.get(key);
      return found && versionOf(found);
    },
    objects(hold) {
      if (!state.isSorted) sort(state);
      if (hold !== undefined) for (const [key, object] of state.objects) state.objects.set(key, hold(object));
      return [...state.objects.values()];
    },
    clear: () => clear(state),
  };
}

function clear(state: State): void {
  state.objects.clear();
  state.deletions.clear();
  state.doubts.clear();
  state.floor = '';
}

function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? '';
}

function isNews({ objects, floor, deletions }: State, key: string, version: string): boolean {
  const known = objects.get(key);
  const deleted = deletions.get(key);
  if (known !== undefined) return isLater(version, versionOf(known));
  return isLater(version, floor) && (deleted === undefined || isLater(version, deleted));
}

function put(state: State, key: string, object: KubeObject): void {
  if (!state.objects.has(key)) state.isSorted = false;
  state.objects.set(key, object);
}

function applyEvent(state: State, { type, object }: WatchEvent): Change | undefined {
  const { objects, deletions, doubts } = state;
  const key = keyOf(idOf(object));
  const version = versionOf(object);
  if (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined) doubts.delete(key);
  const before = objects.get(key);
  // The version of a deletion may be the one of the object before it.
  const isDeletion = type === 'DELETED' && before !== undefined && !isLater(versionOf(before), version);
  if (!isDeletion && (!isLater(version, state.floor) || !isNews(state, key, version))) return undefined;
  if (type !== 'DELETED') {
    put(state, key, object);
    return { before, after: object };
  }
  if (deletions.size >= DELETIONS_MAX) deletions.clear();
  deletions.set(key, version);
  objects.delete(key);
  return before === undefined ? undefined : { before };
}

function replaceAll(state: State, { version, objects }: ListedNow): ReadonlyMap<string, Change> {
  // A server that was restored from a backup counts again from an earlier version.
  if (isLater(state.floor, version)) clear(state);
  const { objects: known, deletions } = state;
  const next = new Map<string, KubeObject>();
  const different = new Map<string, Change>();
  for (const object of objects) {
    const key = keyOf(idOf(object));
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
  state.doubts.clear();
  return different;
}

/** As the keys of etcd are ordered. */
function sort(state: State): void {
  const named = [...state.objects].map(([key, object]) => ({ key, object, place: orderOf(object) }));
  named.sort((a, b) => (a.place < b.place ? -1 : 1));
  state.objects = new Map(named.map(({ key, object }) => [key, object]));
  state.isSorted = true;
}

function orderOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
