// Stores the last read lists of members. A member with the same lists for all callers has one entry. Any other member
// has one entry per caller.

import { setBounded } from '#std/bounded.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { Asking } from '../../backends/bridge/ask.ts';
import { type Member, memberCause, ownCause } from '../members/member.ts';
import type { ItemNotice } from './item-notices.ts';
import { type MemberLists, readLists } from './lists.ts';
import { listsEqual } from './lists-equal.ts';

export interface ListEntry {
  /** Last read lists. Equal lists keep the same object. undefined if the lists were never read. */
  readonly lists?: MemberLists;
  /** Faulty items in the last reading. */
  readonly notices?: readonly ItemNotice[];
  /** Why the last reading failed. undefined if it succeeded. */
  readonly fault?: BackendFault;
  /** Time of the first failure since the last success, in monotonic milliseconds. */
  readonly failingSince?: number;
  /** `sleeps` of the member when its lists were read. */
  readonly sleeps?: string | undefined;
  /** Time at which the lists must be read again, in monotonic milliseconds. */
  readonly until: number;
}

interface EntryClock {
  monotonic(): number;
}

export interface Entries {
  /**
   * Returns the stored entry. Begins a reading in the background if the entry is old. Returns undefined if no reading
   * has ended yet.
   */
  look(member: Member, exchange: Exchange | undefined): ListEntry | undefined;
  /** Reads the lists, or joins a reading in progress. */
  read(member: Member, exchange: Exchange | undefined, timeoutMs?: number): Promise<ListEntry>;
  /** Makes the next `look` read the lists of a member again. */
  doubt(member: string): void;
  /** Removes the entries of all other members. */
  keepOnly(names: ReadonlySet<string>): void;
}

export interface EntryParts {
  readonly asking: (member: Member, timeoutMs: number) => Asking;
  readonly clock: EntryClock;
  /** Called at the end of a reading. `shared` is true if all callers share the entry. */
  readonly ended: (member: Member, before: ListEntry | undefined, entry: ListEntry, shared: boolean) => void;
}

const FRESH_MS = 60_000;
/** Time after a failed reading until the next reading. */
const RETRY_MS = 5_000;
/** Maximum number of entries of single callers. The oldest entries are dropped. */
const PRIVATE_MAX = 2000;

/** Returns the earlier object if the lists are equal, so that data derived from the lists stays valid. */
function keepEqual(before: MemberLists | undefined, read: MemberLists): MemberLists {
  return before !== undefined && listsEqual(before, read) ? before : read;
}

/** Returns true if the member may sleep and its declaration has changed since the lists were read. */
function isOfAnother({ sleeps }: Member, entry: ListEntry): boolean {
  return sleeps !== undefined && entry.lists !== undefined && entry.sleeps !== sleeps;
}

/**
 * Returns the time for which lists stay fresh. Lists of a member that may sleep do not become old, because a reading
 * would start the member.
 */
function freshMs({ sleeps }: Member): number {
  return sleeps === undefined ? FRESH_MS : Number.POSITIVE_INFINITY;
}

export function createEntries(parts: EntryParts): Entries {
  const { clock } = parts;
  const shared = new Map<string, ListEntry>();
  const own = new Map<string, ListEntry>();
  /**
   * Readings in progress, by the key of their entry. The member is compared too: a new configuration may reuse a
   * member's name.
   */
  const reading = new Map<string, { readonly member: Member; readonly ended: Promise<ListEntry> }>();
  let doubts = 0;

  function keyOf(member: Member, exchange: Exchange | undefined): string {
    return member.perCaller ? `${member.name} ${exchange?.caller ?? ''}` : member.name;
  }

  function storeOf({ perCaller }: Member): Map<string, ListEntry> {
    return perCaller ? own : shared;
  }

  async function readNow(
    member: Member,
    key: string,
    exchange: Exchange | undefined,
    timeoutMs: number,
  ): Promise<ListEntry> {
    const cause = member.perCaller && exchange !== undefined ? memberCause(member, exchange) : ownCause(member);
    const doubtsBefore = doubts;
    const result = await readLists(parts.asking(member, timeoutMs), cause, member.lock);
    const before = storeOf(member).get(key);
    const now = clock.monotonic();
    const entry: ListEntry = result.ok
      ? {
          lists: keepEqual(before?.lists, result.lists),
          notices: result.notices,
          sleeps: member.sleeps,
          until: doubts === doubtsBefore ? now + freshMs(member) : now,
        }
      : {
          lists: before?.lists,
          sleeps: before?.sleeps,
          fault: result.fault,
          failingSince: before?.failingSince ?? now,
          until: now + RETRY_MS,
        };
    if (reading.get(key)?.member !== member) return entry;
    setBounded(storeOf(member), key, entry, member.perCaller ? PRIVATE_MAX : Number.POSITIVE_INFINITY);
    reading.delete(key);
    parts.ended(member, before, entry, !member.perCaller);
    return entry;
  }

  function read(member: Member, exchange: Exchange | undefined, timeoutMs = member.timeoutMs): Promise<ListEntry> {
    const key = keyOf(member, exchange);
    const under = reading.get(key);
    if (under?.member === member) return under.ended;
    const ended = readNow(member, key, exchange, timeoutMs);
    reading.set(key, { member, ended });
    return ended;
  }

  return {
    read,
    look(member, exchange) {
      const entry = storeOf(member).get(keyOf(member, exchange));
      const isOld = entry !== undefined && (entry.until <= clock.monotonic() || isOfAnother(member, entry));
      if (isOld) void read(member, exchange);
      return entry;
    },
    doubt(name) {
      doubts += 1;
      const stale = (entry: ListEntry): ListEntry => ({ ...entry, until: 0 });
      const known = shared.get(name);
      if (known !== undefined) shared.set(name, stale(known));
      for (const [key, entry] of own) if (key.startsWith(`${name} `)) own.set(key, stale(entry));
    },
    keepOnly(names) {
      for (const map of [shared, own, reading]) {
        for (const key of map.keys()) if (!names.has(key.split(' ', 1)[0] ?? '')) map.delete(key);
      }
    },
  };
}
