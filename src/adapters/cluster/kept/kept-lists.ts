// Keeps the lists of a cluster current with watches in a long-running process. Runs read the lists without requests.
// Changes by other clients are reported.

import { groupOf, idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ApiResource, Clock, ListOptions } from '#reconciler/run/ports.ts';
import type { ResourceId } from '#std/problem.ts';
import type { ConnectedCluster } from '../connect.ts';
import type { ObjectChange } from './kept-list.ts';
import { openWatchedList, type WatchedList } from './watched-list.ts';

export interface KeptListsOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /**
   * Receives changes by other clients, `GATHER_MS` after the first change. Several changes of an object are combined
   * into one.
   */
  readonly changed: (changes: readonly ObjectChange[]) => void;
  /** Reports that changes may have been missed. The next run sends a LIST. */
  readonly lost: () => void;
  /** Receives a kind and the names of objects whose change was found only by a LIST. */
  readonly missed: (kind: string, objects: readonly string[]) => void;
  /** Logs a new reason why a watch fails, or that the watch works again. */
  readonly say: (text: string) => void;
  /** Receives an error of a watch that is not a Failure. */
  readonly fail: (error: unknown) => void;
}

/** Milliseconds during which changes are collected before they are reported. */
const GATHER_MS = 100;
/** Maximum number of watched lists. Each list needs a connection. Further lists are read by LISTs. */
const LISTS_MAX = 200;

interface ListsState {
  readonly cluster: ConnectedCluster;
  readonly options: KeptListsOptions;
  readonly lists: Map<string, WatchedList>;
  readonly closing: AbortController;
  /** Labels of lists that were read since the last `endUnused`. */
  used: Set<string>;
  /** The last schema by apiVersion. */
  readonly schemas: Map<string, unknown>;
  /** Changes that are not reported yet, by list and key. */
  readonly pending: Map<string, CombinedChange>;
  isGathering: boolean;
}

interface CombinedChange {
  readonly change: ObjectChange;
  /** Number of combined changes. */
  readonly count: number;
}

export function keepLists(cluster: ConnectedCluster, options: KeptListsOptions): ConnectedCluster {
  const state: ListsState = {
    cluster,
    options,
    lists: new Map(),
    closing: new AbortController(),
    used: new Set(),
    schemas: new Map(),
    pending: new Map(),
    isGathering: false,
  };
  return {
    ...cluster,
    ...writesOver(state),
    async list(kind, namespace, how = {}) {
      const list = how.kept === true ? listFor(state, kind, namespace, how) : undefined;
      return list === undefined ? cluster.list(kind, namespace, how) : list.read(how);
    },
    keptList(kind, namespace, { only, selector }) {
      const watched = { kind, namespace: kind.namespaced ? namespace : undefined, only, selector };
      const name = labelOfList(watched);
      state.used.add(name);
      return state.lists.get(name)?.current();
    },
    async schema(apiVersion) {
      const schema = await cluster.schema(apiVersion);
      noteSchema(state, apiVersion, schema);
      return schema;
    },
    listAgain() {
      endUnused(state);
      for (const list of state.lists.values()) list.distrust();
    },
    async close() {
      state.closing.abort();
      await Promise.allSettled([...state.lists.values()].map((list) => list.end()));
      await cluster.close();
    },
  };
}

/**
 * Makes the next reads send LISTs after a schema changed. The server may then return unchanged resourceVersions with
 * other defaults or without some fields.
 */
function noteSchema({ schemas, lists }: ListsState, apiVersion: string, schema: unknown): void {
  const isOther = schemas.has(apiVersion) && schemas.get(apiVersion) !== schema;
  schemas.set(apiVersion, schema);
  if (!isOther) return;
  for (const list of lists.values()) if (list.watched.kind.apiVersion === apiVersion) list.distrust();
}

type Writes = Pick<ConnectedCluster, 'apply' | 'patch' | 'create' | 'replace' | 'remove'>;

/** Adds our own writes to the lists at once, before their events arrive. */
function writesOver(state: ListsState): Writes {
  const { cluster } = state;
  const stored = async (id: ResourceId, write: Promise<KubeObject>, isWhole = true): Promise<KubeObject> => {
    try {
      const object = await write;
      takeOver(state, object, isWhole);
      return object;
    } catch (error) {
      // The write may have been stored, or the name may now belong to another object.
      for (const list of listsWith(state, id)) list.doubt(keyOf(id));
      throw error;
    }
  };
  return {
    apply: (object, how) =>
      how.dryRun === true
        ? cluster.apply(object, how)
        : stored(idOf(object), cluster.apply(object, how), how.subresource === undefined),
    patch: (object, operations, how) => {
      const write = cluster.patch(object, operations, how);
      return how.dryRun === true ? write : stored(idOf(object), write);
    },
    create: (object) => stored(idOf(object), cluster.create(object)),
    replace: (object) => stored(idOf(object), cluster.replace(object)),
    async remove(id, ...how) {
      for (const list of listsWith(state, id)) list.doubt(keyOf(id));
      await cluster.remove(id, ...how);
    },
  };
}

function takeOver(state: ListsState, object: KubeObject, isWhole: boolean): void {
  const id = idOf(object);
  for (const list of listsWith(state, id)) {
    const hadCome = list.write(object, isWhole);
    const name = `${labelOfList(list.watched)} ${keyOf(id)}`;
    // If another client changed the object before our write, the change must still be reported.
    if (isWhole && hadCome && state.pending.get(name)?.count === 1) state.pending.delete(name);
  }
}

function listsWith({ lists }: ListsState, { apiVersion, kind, namespace }: ResourceId): WatchedList[] {
  const group = groupOf(apiVersion);
  return [...lists.values()].filter(({ watched }) => {
    const isKind = watched.kind.kind === kind && groupOf(watched.kind.apiVersion) === group;
    return isKind && (watched.namespace === undefined || watched.namespace === namespace);
  });
}

export function labelOfList({ kind, namespace, only, selector }: WatchedList['watched']): string {
  return [kind.apiVersion, kind.plural, namespace, only, selector].join(' ');
}

/** Returns undefined if the list is not kept. */
function listFor(
  state: ListsState,
  kind: ApiResource,
  namespace: string | undefined,
  { only, selector }: ListOptions,
): WatchedList | undefined {
  const watched = { kind, namespace: kind.namespaced ? namespace : undefined, only, selector };
  const name = labelOfList(watched);
  state.used.add(name);
  const known = state.lists.get(name);
  if (known !== undefined || state.lists.size >= LISTS_MAX || state.closing.signal.aborted) return known;
  const { cluster, options } = state;
  const opened = openWatchedList(
    {
      watches: cluster.watches,
      read: cluster.readList,
      clock: options.clock,
      say: options.say,
      changed: (key, change) => noteChange(state, `${name} ${key}`, change),
      lost: options.lost,
      missed: (of, keys) => options.missed(of.kind.kind, keys),
      fail: options.fail,
    },
    watched,
  );
  state.lists.set(name, opened);
  return opened;
}

function noteChange(state: ListsState, name: string, change: ObjectChange): void {
  const { pending, options, closing } = state;
  const earlier = pending.get(name);
  const combined = earlier === undefined ? change : { before: earlier.change.before, after: change.after };
  pending.set(name, { change: combined, count: (earlier?.count ?? 0) + 1 });
  if (state.isGathering) return;
  state.isGathering = true;
  void options.clock.sleep(GATHER_MS, closing.signal).then(() => {
    state.isGathering = false;
    const changes = [...pending.values()].map(({ change }) => change);
    pending.clear();
    if (changes.length > 0 && !closing.signal.aborted) options.changed(changes);
  });
}

function endUnused(state: ListsState): void {
  const { lists, used, options } = state;
  for (const [name, list] of lists) {
    if (used.has(name)) continue;
    lists.delete(name);
    list.end().catch(options.fail);
  }
  state.used = new Set();
}
