// Keeps one list current by a watch. A LIST reads the objects at first, while the watch is not open, if they may be
// wrong, and from time to time as a check.

import { idOf, type KubeObject, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import type { ListOptions } from '#reconciler/run/ports.ts';
import type { Failure } from '#std/failure.ts';
import { metadataOf, type ReadList } from '../lists.ts';
import type { WatchEvent, Watched } from '../watch.ts';
import { type Watching, type WatchingDeps, watchUntilLost } from './keep-watching.ts';
import { type Change, createKeptList, type KeptList } from './kept-list.ts';
import { isComparable, isLater } from './versions.ts';

export interface WatchedListDeps extends WatchingDeps {
  readonly read: ReadList;
  /** Receives each change except our own writes. */
  readonly changed: (key: string, change: Change) => void;
  /** Reports that events may have been lost: only a LIST shows the changes. */
  readonly lost: () => void;
  /** Receives the keys of objects whose change a LIST showed and the watch did not. */
  readonly missed: (watched: Watched, keys: readonly string[]) => void;
  /** Receives an error of the watch that is not a Failure. */
  readonly fail: (error: unknown) => void;
}

export interface WatchedList {
  readonly watched: Watched;
  read(options: ListOptions): Promise<readonly KubeObject[]>;
  /** Returns the objects, or undefined if `read` would send a request. */
  current(): readonly KubeObject[] | undefined;
  /** Makes the next `read` a LIST. */
  distrust(): void;
  /**
   * Stores the answer of our own write. Returns whether its event had arrived before. `isWhole` is false for a write to
   * a subresource: other parts of the object may have changed, and are reported as a change.
   */
  write(object: KubeObject, isWhole: boolean): boolean;
  doubt(key: string): void;
  /** Resolves when no watch is open any more. */
  end(): Promise<void>;
}

interface State {
  readonly deps: WatchedListDeps;
  readonly watched: Watched;
  readonly kept: KeptList;
  /** Ends the list. */
  readonly ending: AbortController;
  /** Ends the watch. */
  watchEnding: AbortController;
  progress: Watching | undefined;
  running: Promise<void>;
  /** Number of times that a LIST has become necessary. */
  needed: number;
  /** Value of `needed` when the last answered LIST began. */
  answered: number;
  /** Number of times that an object was doubted. */
  doubted: number;
  reading: Reading | undefined;
  /** Keys of objects that a LIST of this version showed to be different, until the watch reports them, too. */
  suspects: { readonly version: string; readonly keys: Set<string> } | undefined;
  /** The record of the last watch that was lost. */
  before: Pick<Watching, 'short' | 'reported'>;
}

/** A LIST under way. */
interface Reading {
  /** `needed` and `doubted` at its start. If `needed` has increased since, another LIST is necessary. */
  readonly asOf: number;
  readonly objects: Promise<readonly KubeObject[]>;
}

export function openWatchedList(deps: WatchedListDeps, watched: Watched): WatchedList {
  const state: State = {
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
      // All objects of a list have one apiVersion; an object in another version cannot be compared with them.
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

function isCurrent({ progress, needed, answered, kept, reading }: State): boolean {
  return progress?.isOpen === true && needed === answered && !kept.hasDoubts() && reading === undefined;
}

/** Joins a LIST under way, unless another LIST has become necessary since it began. */
function readOnce(state: State, hold: ListOptions['hold']): Promise<readonly KubeObject[]> {
  const { reading: earlier, needed, doubted } = state;
  const asOf = needed + doubted;
  if (earlier?.asOf === asOf) return earlier.objects;
  const readNext = async (): Promise<readonly KubeObject[]> => {
    // The caller of the earlier read gets its error.
    await Promise.allSettled([earlier?.objects]);
    try {
      return await readAnew(state, hold);
    } finally {
      if (state.reading === reading) state.reading = undefined;
    }
  };
  const reading: Reading = { asOf, objects: readNext() };
  state.reading = reading;
  return reading.objects;
}

async function readAnew(state: State, hold: ListOptions['hold']): Promise<readonly KubeObject[]> {
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
    // If the server was restored from a backup, the watch reports events of another history.
    state.watchEnding.abort();
    await state.running;
    beginWatching(state, version);
  } else if (state.progress === undefined) beginWatching(state, version);
  else {
    if (isProof) suspect(state, version, different);
    // The events up to this version are not needed.
    else state.progress.version = version;
    // The run that reads the list now may have used the old objects before.
    for (const [key, change] of different) deps.changed(key, change);
  }
  return objects;
}

/** Returns an empty text if versions of the list cannot be compared. */
function versionOf({ version, objects }: Awaited<ReturnType<ReadList>>): string {
  const all = [version, ...objects.map(({ metadata }) => metadata.resourceVersion)];
  return all.every(isComparable) ? version : '';
}

function beginWatching(state: State, version: string): void {
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

/** Whether the failure will pass. After other failures, such as a refusal, each run reads the list itself. */
function isPassing({ code }: Failure): boolean {
  return code === 'cluster-gone';
}

function noteEvent(state: State, { type, object }: WatchEvent): void {
  const { kept, watched, deps, suspects } = state;
  const taken = watched.only === 'metadata' ? metadataOf(object) : object;
  const key = keyOf(idOf(taken));
  suspects?.keys.delete(key);
  const change = kept.take({ type, object: taken });
  if (change !== undefined) deps.changed(key, change);
}

function suspect(state: State, version: string, changes: ReadonlyMap<string, Change>): void {
  reportSuspects(state);
  state.suspects = changes.size === 0 ? undefined : { version, keys: new Set(changes.keys()) };
}

/** Once the watch is past the version of the LIST, it has reported all changes that the LIST showed. */
function clearSuspects(state: State, reached: string): void {
  if (state.suspects !== undefined && isLater(reached, state.suspects.version)) reportSuspects(state);
}

function reportSuspects(state: State): void {
  const { suspects, deps, watched } = state;
  state.suspects = undefined;
  if (suspects !== undefined && suspects.keys.size > 0) deps.missed(watched, [...suspects.keys]);
}

/** Selectors of kept lists have the form `label=value`. */
function belongsTo({ selector }: Watched, { metadata }: KubeObject): boolean {
  if (selector === undefined) return true;
  const [label = '', value] = selector.split('=');
  return metadata.labels?.[label] === value;
}
