// Applies the tools lock of a server. Decides which definitions pass in lists, which calls pass, and when the server's
// list must be read first. A call costs two look-ups while the last reading of the list is recent.

import { LOCKED_LIST_NAMES } from '#contracts/tool-lock/schema.ts';
import { setBounded } from '#std/bounded.ts';
import type { FilteredKey } from '../../wire/methods.ts';
import type { Agreement, Lock } from './lock.ts';

interface Observation {
  readonly list: FilteredKey;
  readonly name: string;
  readonly what: Agreement;
  /** JSON of the definition as the server sent it. */
  readonly definition: Buffer;
}

export interface KeeperPorts {
  readonly clock: { monotonic(): number };
  /** Called with each definition that differs, and with each definition in a client's list that agrees. */
  readonly observed: (observation: Observation) => void;
  /** Called with names whose definitions agree. */
  readonly agreed: (list: FilteredKey, names: readonly string[]) => void;
  /**
   * Called when a list was read completely. `missing` are names of reviewed definitions that the list does not contain.
   */
  readonly completed: (list: FilteredKey, read: ListContents) => void;
}

interface ListContents {
  readonly listed: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** Reading of one list, from the first page to the last page. */
export interface LockReading {
  readonly list: FilteredKey;
  see(name: string, agreement: Agreement): void;
  /** Names of reviewed definitions that the list lacks or that differ in the list. undefined until the reading ends. */
  readonly held: ReadonlySet<string> | undefined;
  /** True if the list has contained no items so far. */
  readonly isEmpty: boolean;
  end(): void;
  fail(): void;
}

export interface LockKeeper {
  readonly enforces: boolean;
  /** Decides whether the client gets an item of a list. A `reported` item differs, but the client gets it. */
  decide(
    list: FilteredKey,
    name: string,
    definition: Buffer,
    reading?: LockReading,
  ): 'agrees' | 'reported' | 'held-back';
  /**
   * Handles a list in which all items agree. The caller knows this because the list has the bytes of an earlier list in
   * which all items agreed.
   */
  agreed(list: FilteredKey, names: readonly string[], reading?: LockReading): void;
  /**
   * Returns whether the server's list must be read before the call can be decided. `scope` is the session, or the
   * caller if the call has no session.
   */
  needsReading(list: FilteredKey, name: string, scope: string): boolean;
  beginReading(list: FilteredKey, scope: string): LockReading;
  /**
   * Returns true if the definition in the list of this session or caller is the reviewed definition, or if the tools
   * lock does not enforce this list. A `reading` for this call is used even if the server has changed its lists since.
   */
  permits(list: FilteredKey, name: string, scope: string, reading?: LockReading): boolean;
  /** Returns true if this name has a reviewed definition, or if the list is not locked. Does not read the list. */
  knows(list: FilteredKey, name: string): boolean;
  /** Makes all earlier readings outdated, because the server reports changed lists. */
  doubt(): void;
}

/**
 * Maximum age of the last reading of a list by any session. A later call reads the list again, because the server may
 * have been restarted with other definitions.
 */
const NOTICED_MS = 5_000;
/** Maximum age of a reading for one session, because servers may show other items to each caller. */
const FRESH_MS = 60_000;
/** Maximum number of stored scopes per list. */
const SCOPES_MAX = 10_000;

interface ListReading {
  readonly epoch: number;
  readonly readAt: number;
  /** Names of reviewed definitions that the list lacks or that differ in the list. */
  readonly held: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

interface KeeperState {
  readonly lock: Lock;
  readonly ports: KeeperPorts;
  /** Readings by list and scope. Nested maps avoid creating a combined key for each call. */
  readonly known: ReadonlyMap<FilteredKey, Map<string, ListReading>>;
  /** Last reading of each list, in any scope. */
  readonly last: Map<FilteredKey, { readonly at: number; readonly held: ReadonlySet<string> | undefined }>;
  /** Number that grows with each change. Readings of an earlier epoch are outdated. */
  epoch: number;
}

export function createLockKeeper(lock: Lock, ports: KeeperPorts): LockKeeper {
  const known = new Map(LOCKED_LIST_NAMES.map((list) => [list, new Map<string, ListReading>()] as const));
  const state: KeeperState = { lock, ports, known, last: new Map(), epoch: 0 };
  const enforces = lock.mode === 'enforce';
  return {
    enforces,
    knows: (list, name) => lock.names(list)?.has(name) !== false,
    decide(list, name, definition, reading) {
      if (lock.names(list) === undefined) return 'agrees';
      const what = lock.compare(list, name, definition);
      if (reading === undefined) notice(state, list, name, what);
      else reading.see(name, what);
      // A list may contain a name twice, so an agreement is only final at the end of the reading.
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

/**
 * Starts a new epoch if an item in a client's list contradicts the last reading. Calls then wait for the next reading.
 */
function notice(state: KeeperState, list: FilteredKey, name: string, what: Agreement): void {
  const held = state.last.get(list)?.held;
  const isReviewed = state.lock.names(list)?.has(name) === true;
  if (held !== undefined && isReviewed && held.has(name) === (what === 'agrees')) state.epoch += 1;
}

function noticeAgreed(state: KeeperState, list: FilteredKey, names: readonly string[]): void {
  const held = state.last.get(list)?.held;
  if (held !== undefined && held.size > 0 && names.some((name) => held.has(name))) state.epoch += 1;
}

function isFresh({ known, last, epoch, ports }: KeeperState, list: FilteredKey, scope: string): boolean {
  const now = ports.clock.monotonic();
  const found = known.get(list)?.get(scope);
  if (found?.epoch !== epoch || now - found.readAt > FRESH_MS) return false;
  const latest = last.get(list);
  if (latest !== undefined && now - latest.at <= NOTICED_MS) return true;
  // The time is set before the reading, so that concurrent calls do not also read the list.
  last.set(list, { at: now, held: latest?.held });
  return false;
}

function beginReading(state: KeeperState, list: FilteredKey, scope: string): LockReading {
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

interface ReadingResult {
  readonly list: FilteredKey;
  readonly scope: string;
  /** Epoch in which the reading began. */
  readonly begun: number;
  readonly held: ReadonlySet<string>;
}

function keepReading(state: KeeperState, { list, scope, begun, held }: ReadingResult): void {
  const { known, last, ports } = state;
  const now = ports.clock.monotonic();
  const scopes = known.get(list);
  const before = scopes?.get(scope)?.held ?? last.get(list)?.held;
  // A list that has changed in one scope may have changed in all scopes.
  const isChanged = before !== undefined && !sameNames(before, held);
  // If the server reported changed lists during the reading, later calls must not use the reading.
  const isCurrent = begun === state.epoch;
  if (isChanged) state.epoch += 1;
  last.set(list, { at: now, held });
  if (scopes !== undefined)
    setBounded(scopes, scope, { epoch: isCurrent ? state.epoch : begun, readAt: now, held }, SCOPES_MAX);
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
