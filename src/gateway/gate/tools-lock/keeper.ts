// Enforces the lock of a server: decides which definitions pass in lists, which calls pass, and when the server's list
// has to be read first. A call costs two look-ups while the last reading of the list is fresh.

import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { setBounded } from '#std/bounded.ts';
import type { FilteredKey } from '../../wire/methods.ts';
import type { Agreement, Lock } from './lock.ts';

/** A definition in a locked list. */
interface Observation {
  readonly list: FilteredKey;
  readonly name: string;
  readonly what: Agreement;
  /** The definition's JSON, as the server sent it. */
  readonly definition: Buffer;
}

export interface KeeperPorts {
  readonly clock: { monotonic(): number };
  /** Receives each definition that differs, and each definition in a client's list that agrees. */
  readonly observed: (observation: Observation) => void;
  /** Receives the names of definitions that agree again, or that agree in a list that was read completely. */
  readonly agreed: (list: FilteredKey, names: readonly string[]) => void;
  /** Receives a list that was read completely. `missing` are reviewed names that the list lacks. */
  readonly completed: (list: FilteredKey, read: ListContents) => void;
}

interface ListContents {
  readonly listed: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** The reading of one list from its first page to its last page. */
export interface LockReading {
  readonly list: FilteredKey;
  see(name: string, agreement: Agreement): void;
  /** Reviewed names that the list lacks or defines differently; undefined before the end of the reading. */
  readonly held: ReadonlySet<string> | undefined;
  /** Whether nothing was listed so far. */
  readonly isEmpty: boolean;
  end(): void;
  fail(): void;
}

export interface LockKeeper {
  readonly enforces: boolean;
  /** Decides whether an item of a list is sent to the client: a `reported` item is sent although it differs. */
  decide(
    list: FilteredKey,
    name: string,
    definition: Buffer,
    reading?: LockReading,
  ): 'agrees' | 'reported' | 'held-back';
  /** Notes a list whose bytes equal the bytes of a list in which all items agreed. */
  agreed(list: FilteredKey, names: readonly string[], reading?: LockReading): void;
  /**
   * Returns whether the server's list has to be read before the call can be decided. `scope` is the session, or the
   * caller without one.
   */
  needsReading(list: FilteredKey, name: string, scope: string): boolean;
  beginReading(list: FilteredKey, scope: string): LockReading;
  /**
   * Returns true only if the definition in the list of this session or caller is the reviewed definition. A `reading`
   * that was made for this call counts even if the server has changed its lists since.
   */
  permits(list: FilteredKey, name: string, scope: string, reading?: LockReading): boolean;
  /** Returns whether an item of that name was reviewed, or the list is not locked, without reading the list. */
  knows(list: FilteredKey, name: string): boolean;
  /** Notes that the server reports changed lists. */
  doubt(): void;
}

/** Maximum age of the last reading of any list: so the next call notices a restarted server. */
const NOTICED_MS = 5_000;
/** Maximum age of the reading of one session: servers may show other items to each caller. */
const FRESH_MS = 60_000;
/** Maximum number of scopes for each list. */
const SCOPES_MAX = 10_000;

interface Known {
  readonly epoch: number;
  readonly readAt: number;
  /** Reviewed names that the list lacks or defines differently. */
  readonly held: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

interface State {
  readonly lock: Lock;
  readonly ports: KeeperPorts;
  /** Entries by list, then by scope. A combined key would have to be created for each call. */
  readonly known: ReadonlyMap<FilteredKey, Map<string, Known>>;
  /** Last reading of each list, by any session or caller. */
  readonly last: Map<FilteredKey, { readonly at: number; readonly held: ReadonlySet<string> | undefined }>;
  /** Readings of an earlier epoch are ignored. */
  epoch: number;
}

export function createLockKeeper(lock: Lock, ports: KeeperPorts): LockKeeper {
  const known = new Map(LOCKED_LIST_NAMES.map((list) => [list, new Map<string, Known>()] as const));
  const state: State = { lock, ports, known, last: new Map(), epoch: 0 };
  const enforces = lock.mode === 'enforce';
  return {
    enforces,
    knows: (list, name) => lock.names(list)?.has(name) !== false,
    decide(list, name, definition, reading) {
      if (lock.names(list) === undefined) return 'agrees';
      const what = lock.compare(list, name, definition);
      if (reading === undefined) notice(state, list, name, what);
      else reading.see(name, what);
      // A list may contain a name twice: only at its end is it known that all of them agree.
      if (what !== 'agrees' || reading === undefined) ports.observed({ list, name, what, definition });
      if (what === 'agrees') return what;
      return enforces ? 'held-back' : 'reported';
    },
    agreed(list, names, reading) {
      if (lock.names(list) === undefined) return;
      if (reading === undefined) noticeAgreed(state, list, names);
      else for (const name of names) reading.see(name, 'agrees');
      ports.agreed(list, names);
    },
    needsReading: (list, name, scope) =>
      enforces && lock.names(list)?.has(name) === true && !isFresh(state, list, scope),
    beginReading: (list, scope) => beginReading(state, list, scope),
    permits(list, name, scope, reading) {
      const names = lock.names(list);
      if (!enforces || names === undefined) return true;
      const found = state.known.get(list)?.get(scope);
      const held = reading?.held ?? (found?.epoch === state.epoch ? found.held : undefined);
      return names.has(name) && held?.has(name) === false;
    },
    doubt() {
      state.epoch += 1;
    },
  };
}

/** Starts a new epoch if a list of a client contradicts the last reading: calls then wait for the next reading. */
function notice(state: State, list: FilteredKey, name: string, what: Agreement): void {
  const held = state.last.get(list)?.held;
  const isReviewed = state.lock.names(list)?.has(name) === true;
  if (held !== undefined && isReviewed && held.has(name) === (what === 'agrees')) state.epoch += 1;
}

function noticeAgreed(state: State, list: FilteredKey, names: readonly string[]): void {
  const held = state.last.get(list)?.held;
  if (held !== undefined && held.size > 0 && names.some((name) => held.has(name))) state.epoch += 1;
}

function isFresh({ known, last, epoch, ports }: State, list: FilteredKey, scope: string): boolean {
  const now = ports.clock.monotonic();
  const found = known.get(list)?.get(scope);
  if (found?.epoch !== epoch || now - found.readAt > FRESH_MS) return false;
  const latest = last.get(list);
  if (latest !== undefined && now - latest.at <= NOTICED_MS) return true;
  // The time is set at once, so that simultaneous calls do not read the list too.
  last.set(list, { at: now, held: latest?.held });
  return false;
}

function beginReading(state: State, list: FilteredKey, scope: string): LockReading {
  const begun = state.epoch;
  const seen = new Map<string, boolean>();
  let ended: ReadonlySet<string> | undefined;
  return {
    list,
    get held() {
      return ended;
    },
    get isEmpty() {
      return seen.size === 0;
    },
    see: (name, agreement) => void seen.set(name, agreement === 'agrees' && seen.get(name) !== false),
    end() {
      const names = [...(state.lock.names(list)?.keys() ?? [])];
      const held = names.filter((name) => seen.get(name) !== true);
      ended = held.length === 0 ? NOTHING : new Set(held);
      keepReading(state, { list, scope, begun, held: ended });
      const missing = names.filter((name) => !seen.has(name));
      const agreed = names.filter((name) => seen.get(name) === true);
      state.ports.agreed(list, agreed);
      state.ports.completed(list, { listed: new Set(seen.keys()), missing });
    },
    fail() {
      state.last.delete(list);
    },
  };
}

interface Ended {
  readonly list: FilteredKey;
  readonly scope: string;
  /** Epoch in which the reading began. */
  readonly begun: number;
  readonly held: ReadonlySet<string>;
}

function keepReading(state: State, { list, scope, begun, held }: Ended): void {
  const { known, last, ports } = state;
  const now = ports.clock.monotonic();
  const scopes = known.get(list);
  const before = scopes?.get(scope)?.held ?? last.get(list)?.held;
  // A list that has changed for one session may have changed for all sessions.
  const isChanged = before !== undefined && !sameNames(before, held);
  // A reading during which the server reported changed lists does not count for later calls.
  const isCurrent = begun === state.epoch;
  if (isChanged) state.epoch += 1;
  last.set(list, { at: now, held });
  if (scopes !== undefined)
    setBounded(scopes, scope, { epoch: isCurrent ? state.epoch : begun, readAt: now, held }, SCOPES_MAX);
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
