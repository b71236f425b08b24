// Holds a server to its lock: which definitions pass in lists, which calls pass, and when the server's list has to be read
// first. A call costs two look-ups while what is known of the list is fresh.

import { setBounded } from '#std/bounded.ts';
import type { FilteredKey } from '../lists.ts';
import type { Agreement, Lock } from './lock.ts';

/** A definition of a list that is locked. */
export interface Observation {
  readonly list: FilteredKey;
  readonly name: string;
  readonly what: Agreement;
  /** JSON, as the server sent it. */
  readonly definition: Buffer;
}

export interface KeeperPorts {
  readonly clock: { monotonic(): number };
  /** Whenever a definition is read. */
  readonly observed: (observation: Observation) => void;
  /** A list was read to its end; `missing`: what was reviewed and is not in it. */
  readonly completed: (list: FilteredKey, read: ListContents) => void;
}

export interface ListContents {
  readonly listed: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** The reading of one list from its first page to its last. */
export interface LockReading {
  readonly list: FilteredKey;
  see(name: string, agreement: Agreement): void;
  /** Reviewed names that the list has differently, or not at all; undefined before its end. */
  readonly held: ReadonlySet<string> | undefined;
  end(): void;
  fail(): void;
}

export interface LockKeeper {
  readonly enforces: boolean;
  /** Whether an item of a list goes on to the client. */
  passes(list: FilteredKey, name: string, definition: Buffer, reading?: LockReading): boolean;
  /** Whether the server's list has to be read before the call can be decided. `scope`: session, or caller without one. */
  needsReading(list: FilteredKey, name: string, scope: string): boolean;
  beginReading(list: FilteredKey, scope: string): LockReading;
  /**
   * True only if the definition in the list of this session, or caller, is the reviewed one. `reading`: made for this very call;
   * it counts also if the server has changed its lists meanwhile.
   */
  permits(list: FilteredKey, name: string, scope: string, reading?: LockReading): boolean;
  /** The same without the list: whether something of that name was reviewed. */
  knows(list: FilteredKey, name: string): boolean;
  /** The server says that its lists have changed. */
  doubt(): void;
}

/** So old may be the last reading of any list: a server that was started again is noticed by the next call. */
const NOTICED_MS = 5_000;
/** So old may be the reading of one session: servers may show each caller something else. */
const FRESH_MS = 60_000;
const SCOPES_MAX = 10_000;

interface Known {
  readonly epoch: number;
  readonly readAt: number;
  /** Reviewed names that the list has differently, or not at all. */
  readonly held: ReadonlySet<string>;
}

const NOTHING: ReadonlySet<string> = new Set();

export function createLockKeeper(lock: Lock, ports: KeeperPorts): LockKeeper {
  const { clock } = ports;
  const known = new Map<string, Known>();
  const last = new Map<FilteredKey, { at: number; held: ReadonlySet<string> | undefined }>();
  /** Readings of an earlier epoch say nothing. */
  let epoch = 0;
  const enforces = lock.mode === 'enforce';
  const keyOf = (list: FilteredKey, scope: string) => `${list} ${scope}`;
  const knows = (list: FilteredKey, name: string) => lock.names(list)?.has(name) !== false;

  function keep(list: FilteredKey, scope: string, begun: number, held: ReadonlySet<string>): void {
    const now = clock.monotonic();
    const before = known.get(keyOf(list, scope))?.held ?? last.get(list)?.held;
    // What has changed for one may have changed for all.
    const isChanged = before !== undefined && !sameNames(before, held);
    if (isChanged) epoch += 1;
    last.set(list, { at: now, held });
    const of = isChanged ? epoch : begun;
    setBounded(known, keyOf(list, scope), { epoch: of, readAt: now, held }, SCOPES_MAX);
  }

  /** A list of a client that says something else than the last reading: calls wait for the next one. */
  function notice(list: FilteredKey, name: string, what: Agreement): void {
    const held = last.get(list)?.held;
    const isOther =
      held !== undefined && lock.names(list)?.has(name) === true && held.has(name) === (what === 'agrees');
    if (isOther) epoch += 1;
  }

  return {
    enforces,
    knows,
    passes(list, name, definition, reading) {
      if (lock.names(list) === undefined) return true;
      const what = lock.compare(list, name, definition);
      if (reading === undefined) notice(list, name, what);
      else reading.see(name, what);
      ports.observed({ list, name, what, definition });
      return what === 'agrees' || !enforces;
    },
    needsReading(list, name, scope) {
      if (!enforces || lock.names(list)?.has(name) !== true) return false;
      const now = clock.monotonic();
      const found = known.get(keyOf(list, scope));
      if (found?.epoch !== epoch || now - found.readAt > FRESH_MS) return true;
      const latest = last.get(list);
      if (latest !== undefined && now - latest.at <= NOTICED_MS) return false;
      // Calls that come meanwhile need not read it as well.
      last.set(list, { at: now, held: latest?.held });
      return true;
    },
    beginReading(list, scope) {
      const begun = epoch;
      const seen = new Map<string, boolean>();
      let ended: ReadonlySet<string> | undefined;
      return {
        list,
        get held() {
          return ended;
        },
        see: (name, agreement) => void seen.set(name, agreement === 'agrees' && seen.get(name) !== false),
        end() {
          const names = [...(lock.names(list)?.keys() ?? [])];
          const held = names.filter((name) => seen.get(name) !== true);
          ended = held.length === 0 ? NOTHING : new Set(held);
          keep(list, scope, begun, ended);
          const missing = names.filter((name) => !seen.has(name));
          ports.completed(list, { listed: new Set(seen.keys()), missing });
        },
        fail() {
          last.delete(list);
        },
      };
    },
    permits(list, name, scope, reading) {
      const names = lock.names(list);
      if (!enforces || names === undefined) return true;
      const found = known.get(keyOf(list, scope));
      const held = reading?.held ?? (found?.epoch === epoch ? found.held : undefined);
      return names.has(name) && held?.has(name) === false;
    },
    doubt() {
      epoch += 1;
    },
  };
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
