// Keeps one list current with a watch. Sends a LIST at first, while no watch is open, if objects may be wrong, and
// regularly as a check.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import type { ListOptions } from '#reconciler/run/ports.ts';
import type { Failure } from '#std/failure.ts';
import { metadataOf, type ReadList } from '../lists.ts';
import type { WatchEvent, Watched } from '../watch.ts';
import { type Watching, type WatchingDeps, watchUntilLost } from './keep-watching.ts';
import { createKeptList, type KeptList, type ObjectChange } from './kept-list.ts';
import { isComparable, isLater } from './versions.ts';

export interface WatchedListDeps extends WatchingDeps {
  readonly read: ReadList;
  /** Receives each change except changes by our own writes. */
  readonly changed: (key: string, change: ObjectChange) => void;
  /** Reports that events may have been lost, so that a LIST is needed. */
  readonly lost: () => void;
  /** Receives the keys of objects whose change was found by a LIST but not reported by the watch. */
  readonly missed: (watched: Watched, keys: readonly string[]) => void;
  /** Receives an error of the watch that is not a Failure. */
  readonly fail: (error: unknown) => void;
}

export interface WatchedList {
  readonly watched: Watched;
  read(options: ListOptions): Promise<readonly KubeObject[]>;
  /** Returns undefined if `read` would send a request. */
  current(): readonly KubeObject[] | undefined;
  /** Makes the next `read` send a LIST. */
  distrust(): void;
  /**
   * Stores the response of our own write. Returns true if its event had already arrived. `isWhole` is false for a write
   * to a subresource. The response may then contain changes by other clients, so the response is reported as a change.
   */
  write(object: KubeObject, isWhole: boolean): boolean;
  doubt(key: string): void;
  /** Ends the list and resolves after its watch has ended. */
  end(): Promise<void>;
}

interface WatchState {
  readonly deps: WatchedListDeps;
  readonly watched: Watched;
  readonly kept: KeptList;
  /** Aborted to end the list. */
  readonly ending: AbortController;
  /** Aborted to end only the current watch. */
  watchEnding: AbortController;
  progress: Watching | undefined;
  running: Promise<void>;
  /** Number of times that a LIST was requested by `distrust`. */
  needed: number;
  /** Value of `needed` at the start of the last successful LIST. */
  answered: number;
  /** Number of calls of `doubt`. */
  doubted: number;
  reading: RunningList | undefined;
  /** Keys of objects that the last LIST showed to be different. A key is removed when the watch reports its object. */
  suspects: { readonly version: string; readonly keys: Set<string> } | undefined;
  /** `short` and `reported` of the last lost watch. */
  before: Pick<Watching, 'short' | 'reported'>;
}

/** A running LIST. */
interface RunningList {
  /**
   * Sum of `needed` and `doubted` at the start of the LIST. If the sum has increased since, another LIST is necessary.
   */
  readonly asOf: number;
  readonly objects: Promise<readonly KubeObject[]>;
}

export function openWatchedList(deps: WatchedListDeps, watched: Watched): WatchedList {
  const state: WatchState = {
    deps,
    watched,
    kept: createKeptList(),
    ending: new AbortController(),
    watchEnding: new AbortController(),
    progress: undefined,
    running: Promise.resolve(),
    needed: 0,
    answered: 0,
    doubted: 0,
    reading: undefined,
    suspects: undefined,
    before: { short: 0, reported: undefined },
  };
  const { kept } = state;
  const doubt = (key: string): void => {
    state.doubted += 1;
    kept.doubt(key);
  };
  return {
    watched,
    read: async ({ hold }) => (isCurrent(state) ? kept.objects(hold) : readOnce(state, hold)),
    current: () => (isCurrent(state) ? kept.objects() : undefined),
    distrust() {
      state.needed += 1;
    },
    write(object, isWhole) {
      const key = keyOfObject(object);
      const before = kept.find(key);
      const { apiVersion } = watched.kind;
      // An object in another apiVersion cannot be compared with the objects of the list.
      if (object.apiVersion !== apiVersion) doubt(key);
      else kept.write(watched.only === 'metadata' ? metadataOf(object) : object, belongsTo(watched, object));
      const after = kept.find(key);
      if (!isWhole && after !== before) deps.changed(key, { before, after });
      return before?.metadata.resourceVersion === object.metadata.resourceVersion;
    },
    doubt,
    async end() {
      state.ending.abort();
      await state.running;
    },
  };
}

function isCurrent({ progress, needed, answered, kept, reading }: WatchState): boolean {
  return progress?.isOpen === true && needed === answered && !kept.hasDoubts() && reading === undefined;
}

/** Joins a running LIST, unless another LIST has become necessary since its start. */
function readOnce(state: WatchState, hold: ListOptions['hold']): Promise<readonly KubeObject[]> {
  const { reading: earlier, needed, doubted } = state;
  const asOf = needed + doubted;
  if (earlier?.asOf === asOf) return earlier.objects;
  const readNext = async (): Promise<readonly KubeObject[]> => {
    // The caller of the earlier read receives its error.
    await Promise.allSettled([earlier?.objects]);
    try {
      return await readAnew(state, hold);
    } finally {
      if (state.reading === reading) state.reading = undefined;
    }
  };
  const reading: RunningList = { asOf, objects: readNext() };
  state.reading = reading;
  return reading.objects;
}

async function readAnew(state: WatchState, hold: ListOptions['hold']): Promise<readonly KubeObject[]> {
  const { deps, watched, kept, needed } = state;
  const { only, selector } = watched;
  const options = {
    ...(only && { only }),
    ...(selector && { selector, large: true as const }),
    ...(hold && { hold }),
  };
  const isProof = state.progress?.isOpen === true;
  const reached = state.progress?.version;
  const begun = kept.beginList();
  const listed = await deps.read(watched.kind, watched.namespace, options);
  const version = versionOf(listed);
  const different = kept.replace({ version, objects: listed.objects }, begun);
  const objects = kept.objects(hold);
  state.answered = needed;
  if (version === '' || state.ending.signal.aborted) return objects;
  if (reached !== undefined && isLater(reached, version)) {
    // The server was restored from a backup, so the watch reports events of another history.
    state.watchEnding.abort();
    await state.running;
    beginWatching(state, version);
  } else if (state.progress === undefined) beginWatching(state, version);
  else {
    if (isProof) suspect(state, version, different);
    // The LIST includes all events up to this version.
    else state.progress.version = version;
    // The current run may already have used the old objects.
    for (const [key, change] of different) deps.changed(key, change);
  }
  return objects;
}

/** Returns the list's resourceVersion, or an empty text if versions in the list cannot be compared. */
function versionOf({ version, objects }: Awaited<ReturnType<ReadList>>): string {
  const all = [version, ...objects.map(({ metadata }) => metadata.resourceVersion)];
  return all.every(isComparable) ? version : '';
}

function beginWatching(state: WatchState, version: string): void {
  const { deps, watched, kept, ending } = state;
  const progress: Watching = { version, isOpen: false, ...state.before };
  state.progress = progress;
  state.watchEnding = new AbortController();
  const signal = AbortSignal.any([ending.signal, state.watchEnding.signal]);
  const listener = {
    take: (event: WatchEvent) => noteEvent(state, event),
    reached: (reached: string) => clearSuspects(state, reached),
  };
  const watching = watchUntilLost(deps, watched, progress, listener, signal);
  const noteEnd = (failure: Failure | undefined): void => {
    state.before = { short: progress.short, reported: progress.reported };
    state.progress = undefined;
    state.suspects = undefined;
    if (failure !== undefined) kept.clear();
    if (failure !== undefined && isPassing(failure)) deps.lost();
  };
  state.running = watching.then(noteEnd, deps.fail);
}

/** True if a new watch can succeed. After other failures, such as a missing permission, each run sends a LIST. */
function isPassing({ code }: Failure): boolean {
  return code === 'cluster-gone';
}

function noteEvent(state: WatchState, { type, object }: WatchEvent): void {
  const { kept, watched, deps, suspects } = state;
  const taken = watched.only === 'metadata' ? metadataOf(object) : object;
  const key = keyOf(idOf(taken));
  suspects?.keys.delete(key);
  const change = kept.take({ type, object: taken });
  if (change !== undefined) deps.changed(key, change);
}

function suspect(state: WatchState, version: string, changes: ReadonlyMap<string, ObjectChange>): void {
  reportSuspects(state);
  state.suspects = changes.size === 0 ? undefined : { version, keys: new Set(changes.keys()) };
}

/**
 * Called with each version that the watch has reached. Once this version is later than the version of the LIST, the
 * watch must have reported all changes that the LIST showed.
 */
function clearSuspects(state: WatchState, reached: string): void {
  if (state.suspects !== undefined && isLater(reached, state.suspects.version)) reportSuspects(state);
}

function reportSuspects(state: WatchState): void {
  const { suspects, deps, watched } = state;
  state.suspects = undefined;
  if (suspects !== undefined && suspects.keys.size > 0) deps.missed(watched, [...suspects.keys]);
}

/** Selectors of watched lists have the form `label=value`. */
function belongsTo({ selector }: Watched, { metadata }: KubeObject): boolean {
  if (selector === undefined) return true;
  const [label = '', value] = selector.split('=');
  return metadata.labels?.[label] === value;
}
