// Stores the last read lists of members: one entry for all callers if a member shows the same lists to all callers,
// otherwise one entry for each caller.

import { setBounded } from '#std/bounded.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { Asking } from '../../backends/bridge/ask.ts';
import { type Member, memberCause, ownCause } from '../members/member.ts';
import type { ItemNotice } from './item-notices.ts';
import { type MemberLists, readLists } from './lists.ts';
import { listsEqual } from './lists-equal.ts';

export interface Entry {
  /** Last read lists. The object stays the same while the lists are equal. Undefined if the lists were never read. */
  readonly lists?: MemberLists;
  /** Faults of single items in the last reading. */
  readonly notices?: readonly ItemNotice[];
  /** Reason why the last reading failed; undefined if it succeeded. */
  readonly fault?: BackendFault;
  /** Time since which readings have failed, in monotonic milliseconds. */
  readonly failingSince?: number;
  /** Time after which the lists are read again. */
  readonly until: number;
}

interface EntryClock {
  monotonic(): number;
}

export interface Entries {
  /**
   * Returns the stored entry, even if it is old, and begins a reading if it is due. Returns undefined if no reading has
   * ended yet.
   */
  look(member: Member, exchange: Exchange | undefined): Entry | undefined;
  /** Reads the lists, or joins a reading in progress. Settles with the result. */
  read(member: Member, exchange: Exchange | undefined, timeoutMs?: number): Promise<Entry>;
  /** Notes that the lists of a member may have changed. */
  doubt(member: string): void;
  /** Removes all other members. */
  keepOnly(names: ReadonlySet<string>): void;
}

export interface EntryParts {
  readonly asking: (member: Member, timeoutMs: number) => Asking;
  readonly clock: EntryClock;
  /** Notes the end of a reading. `shared` is true if the reading was for all callers. */
  readonly ended: (member: Member, before: Entry | undefined, entry: Entry, shared: boolean) => void;
}

const FRESH_MS = 60_000;
/** Time for which a member that cannot be read is not read again. */
const RETRY_MS = 5_000;
/** Maximum number of callers whose lists are stored; the oldest lists are deleted first. */
const PRIVATE_MAX = 2000;

/** Keeps the earlier object for equal lists, so that derived data is rebuilt only for changed lists. */
function keepEqual(before: MemberLists | undefined, read: MemberLists): MemberLists {
  return before !== undefined && listsEqual(before, read) ? before : read;
}

export function createEntries(parts: EntryParts): Entries {
  const { clock } = parts;
  const shared = new Map<string, Entry>();
  const own = new Map<string, Entry>();
  /**
   * Readings by the key of their entry; the member is stored too, since a member of a new configuration may have the
   * name of an earlier member.
   */
  const reading = new Map<string, { readonly member: Member; readonly ended: Promise<Entry> }>();
  let doubts = 0;

  function keyOf(member: Member, exchange: Exchange | undefined): string {
    return member.perCaller ? `${member.name} ${exchange?.caller ?? ''}` : member.name;
  }

  function storeOf({ perCaller }: Member): Map<string, Entry> {
    return perCaller ? own : shared;
  }

  async function readNow(
    member: Member,
    key: string,
    exchange: Exchange | undefined,
    timeoutMs: number,
  ): Promise<Entry> {
    const cause = member.perCaller && exchange !== undefined ? memberCause(member, exchange) : ownCause(member);
    const doubtsBefore = doubts;
    const result = await readLists(parts.asking(member, timeoutMs), cause, member.lock);
    const before = storeOf(member).get(key);
    const now = clock.monotonic();
    const entry: Entry = result.ok
      ? {
          lists: keepEqual(before?.lists, result.lists),
          notices: result.notices,
          until: doubts === doubtsBefore ? now + FRESH_MS : now,
        }
      : { lists: before?.lists, fault: result.fault, failingSince: before?.failingSince ?? now, until: now + RETRY_MS };
    if (reading.get(key)?.member !== member) return entry;
    setBounded(storeOf(member), key, entry, member.perCaller ? PRIVATE_MAX : Number.POSITIVE_INFINITY);
    reading.delete(key);
    parts.ended(member, before, entry, !member.perCaller);
    return entry;
  }

  function read(member: Member, exchange: Exchange | undefined, timeoutMs = member.timeoutMs): Promise<Entry> {
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
      if (entry !== undefined && entry.until <= clock.monotonic()) void read(member, exchange);
      return entry;
    },
    doubt(name) {
      doubts += 1;
      const stale = (entry: Entry): Entry => ({ ...entry, until: 0 });
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
