// One list that a watch keeps current. It is read with a LIST at first, if its watch is not open, if it may be wrong, and as proof.

import { idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ListOptions } from '#reconciler/run/ports.ts';
import type { Failure } from '#std/failure.ts';
import { metadataOf, type ReadList } from '../lists.ts';
import type { WatchEvent, Watched } from '../watch.ts';
import { type Watching, type WatchingDeps, watchUntilLost } from './keep-watching.ts';
import { type Change, createKeptList, type KeptList } from './kept-list.ts';
import { isComparable, isLater } from './versions.ts';

export interface WatchedListDeps extends WatchingDeps {
  readonly read: ReadList;
  /** Called with each change that is not known from our own writes so far. */
  readonly changed: (key: string, change: Change) => void;
  /** Called when events may have been lost: only a LIST shows what changed. */
  readonly lost: () => void;
  /** Called with the keys of objects about which a LIST said something that the watch never did. */
  readonly missed: (watched: Watched, keys: readonly string[]) => void;
  /** Called with an error of the watch that is not a Failure. */
  readonly fail: (error: unknown) => void;
}

export interface WatchedList {
  readonly watched: Watched;
  read(options: ListOptions): Promise<readonly KubeObject[]>;
  /** Whether `read` would send no request. */
  isCurrent(): boolean;
  /** The next `read` is a LIST. */
  distrust(): void;
  /** Takes over the answer of our own write. Returns whether its event had come before. */
  write(object: KubeObject): boolean;
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
  isDistrusted: boolean;
  reading: Promise<void> | undefined;
  /** Keys that a LIST of that version showed to be different, until the watch says so as well. */
  suspects: { readonly version: string; readonly keys: Set<string> } | undefined;
  /** Of the last watch that was lost. */
  before: Pick<Watching, 'short' | 'reported'>;
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
    isDistrusted: false,
    reading: undefined,
    suspects: undefined,
    before: { short: 0, reported: undefined },
  };
  const { kept } = state;
  const isCurrent = (): boolean =>
    state.progress?.isOpen === true && !state.isDistrusted && !kept.hasDoubts() && state.reading === undefined;
  return {
    watched,
    isCurrent,
    async read({ hold }) {
      if (!isCurrent()) {
        state.reading ??= readAnew(state, hold).finally(() => {
          state.reading = undefined;
        });
        await state.reading;
      }
      return kept.objects(hold);
    },
    distrust() {
      state.isDistrusted = true;
    },
    write(object) {
      const key = keyOf(idOf(object));
      const isKnown = kept.version(key) === object.metadata.resourceVersion;
      const { apiVersion } = watched.kind;
      // What is compared is in the version of the list.
      if (object.apiVersion !== apiVersion) kept.doubt(key);
      else kept.write(watched.only === 'metadata' ? metadataOf(object) : object, belongsTo(watched, object));
      return isKnown;
    },
    doubt: kept.doubt,
    async end() {
      state.ending.abort();
      await state.running;
    },
  };
}

async function readAnew(state: State, hold: ListOptions['hold']): Promise<void> {
  const { deps, watched, kept } = state;
  const { only, selector } = watched;
  const options = {
    ...(only && { only }),
    ...(selector && { selector, large: true as const }),
    ...(hold && { hold }),
  };
  const isProof = state.progress?.isOpen === true;
  const reached = state.progress?.version;
  const { objects, version } = await deps.read(watched.kind, watched.namespace, options);
  const different = kept.replace({ version: isComparable(version) ? version : '', objects });
  state.isDistrusted = false;
  if (!isComparable(version) || state.ending.signal.aborted) return;
  if (reached !== undefined && isLater(reached, version)) {
    // If the server was restored from a backup, the watch reports another past.
    state.watchEnding.abort();
    await state.running;
    beginWatching(state, version);
  } else if (state.progress === undefined) beginWatching(state, version);
  else {
    if (isProof) suspect(state, version, different);
    // The events up to this version are of no use.
    else state.progress.version = version;
    // The run that reads the list now may have looked before.
    for (const [key, change] of different) deps.changed(key, change);
  }
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

/** After other failures, such as a refusal, runs find changes by themselves. */
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

/** When the watch has come further than the LIST, it has reported all that the LIST showed. */
function clearSuspects(state: State, reached: string): void {
  if (state.suspects !== undefined && isLater(reached, state.suspects.version)) reportSuspects(state);
}

function reportSuspects(state: State): void {
  const { suspects, deps, watched } = state;
  state.suspects = undefined;
  if (suspects !== undefined && suspects.keys.size > 0) deps.missed(watched, [...suspects.keys]);
}

/** Selectors of lists that are kept have the form `label=value`. */
function belongsTo({ selector }: Watched, { metadata }: KubeObject): boolean {
  if (selector === undefined) return true;
  const [label = '', value] = selector.split('=');
  return metadata.labels?.[label] === value;
}
