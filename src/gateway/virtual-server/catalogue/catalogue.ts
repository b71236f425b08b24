// Provides the current offer of a virtual server for each caller, and reports changes of the offer.

import { setBounded } from '#std/bounded.ts';
import type { BackendFault, Exchange } from '../../backends/backend.ts';
import type { Member, Members } from '../members/member.ts';
import type { OwnTools } from '../own-tools/ports.ts';
import { assembleOffer, changedLists, type Offer } from './assemble.ts';
import { createEntries, type Entries, type EntryParts, type ListEntry } from './entries.ts';
import type { ItemNotice } from './item-notices.ts';
import type { ListName } from './list-names.ts';
import type { AggregationRules, OfferingMember } from './rules.ts';

/** The offer, or a member's fault that prevents every offer (partialFailureMode `fail`). */
export type Offered =
  | { readonly ok: true; readonly offer: Offer }
  | { readonly ok: false; readonly fault: BackendFault };

export interface Catalogue {
  /** Returns the offer for a caller. Returns a promise only if a member's lists must be read first. */
  offer(exchange: Exchange): Offered | Promise<Offered>;
  /** Returns the offer for calls, even if members are unhealthy: a call needs only its own member. */
  routes(exchange: Exchange): Offer | Promise<Offer>;
  /** Returns the lists that were read so far, without members whose lists depend on the caller. */
  known(): Offer;
  /** Returns the latest offer, without waiting. undefined if no offer exists and the stored lists are incomplete. */
  lastOffer(caller: string): Offer | undefined;
  /** Reads the lists of a member now. Used for members with the same lists for all callers. */
  check(member: Member, timeoutMs: number): Promise<ListEntry>;
  /** Handles a member's report that its lists have changed. */
  doubt(member: string): void;
  /** Handles changed members, health or rules. */
  renew(): void;
  /** Calls `changed` for each change of the lists. The returned function ends the calls. */
  watch(exchange: Exchange, changed: (lists: readonly ListName[]) => void): () => void;
  stop(): void;
}

export interface CatalogueParts extends Pick<EntryParts, 'asking'> {
  readonly members: Members;
  readonly rules: () => AggregationRules;
  /** If absent, the virtual server has no tools of its own. */
  readonly own?: () => Pick<OwnTools, 'offer'> | undefined;
  /** Returns whether clients search tools instead of listing them. */
  readonly optimized: () => boolean;
  readonly mode: () => 'fail' | 'best_effort';
  readonly clock: { monotonic(): number; after(ms: number, task: () => void): () => void };
  /** Receives each new offer. */
  readonly assembled: (offer: Offer) => void;
  /** Called when reading a member begins to fail, fails for another reason, or succeeds again. */
  readonly observed: (member: Member, entry: ListEntry) => void;
  /** Receives the faulty items of each reading. */
  readonly noticed: (member: Member, notices: readonly ItemNotice[]) => void;
}

/** Changes within this time are reported together. */
const TOGETHER_MS = 200;
/** Time until tools of a failing member are removed, and maximum age of an assembled offer. */
const [GRACE_MS, LOOK_AGAIN_MS] = [60_000, 60_000];
const OFFERS_MAX = 1000;

/** Last reading of each member; undefined for a member that was never read. */
type ListEntries = readonly (ListEntry | undefined)[];

interface CachedOffer {
  /** Values of `Offers.version` and `Offers.rules` when the offer was assembled. */
  readonly version: number;
  readonly rules: number;
  readonly until: number;
  readonly offer: Offer;
  /** True if the first reading of every member has ended. */
  readonly whole: boolean;
  readonly entries: ListEntries;
  /** First member whose lists the offer lacks. */
  readonly missing: Member | undefined;
}

interface Watcher {
  readonly exchange: Exchange;
  readonly changed: (lists: readonly ListName[]) => void;
  reported: Offer | undefined;
}

interface Offers {
  readonly parts: CatalogueParts;
  readonly entries: Entries;
  readonly kept: Map<string, CachedOffer>;
  readonly watchers: Set<Watcher>;
  /** Counts changes of members' lists. */
  version: number;
  /** Counts changes of members and rules. */
  rules: number;
  stopTelling: (() => void) | undefined;
  stopped: boolean;
}

export function createCatalogue(parts: CatalogueParts): Catalogue {
  const state: Offers = {
    parts,
    entries: createEntries({ ...parts, ended: (...ended) => takeEntry(state, ...ended) }),
    ...{ kept: new Map(), watchers: new Set(), version: 0, rules: 0, stopTelling: undefined, stopped: false },
  };
  const { entries, watchers } = state;
  return {
    routes(exchange) {
      const kept = keptFor(state, exchange, false);
      return kept instanceof Promise ? kept.then(({ offer }) => offer) : kept.offer;
    },
    known: () => knownOffer(state),
    lastOffer(caller) {
      const all = parts.members.all();
      const isShared = all.every(({ perCaller }) => !perCaller);
      const found = state.kept.get(isShared ? '' : caller);
      if (found?.version === state.version || !isShared) return found?.offer;
      const looked = all.map((member) => entries.look(member, undefined));
      return looked.includes(undefined) ? found?.offer : keepOffer(state, '', all, looked).offer;
    },
    offer(exchange) {
      const kept = keptFor(state, exchange, parts.mode() === 'fail');
      if (kept instanceof Promise) return kept.then((each) => offered(state, exchange, each));
      return offered(state, exchange, kept);
    },
    check: (member, timeoutMs) => entries.read(member, undefined, timeoutMs),
    doubt(member) {
      entries.doubt(member);
      const found = parts.members.find(member);
      if (found !== undefined && !found.perCaller) void entries.read(found, undefined);
      else renew(state);
    },
    renew() {
      state.rules += 1;
      entries.keepOnly(new Set(parts.members.all().map(({ name }) => name)));
      renew(state);
    },
    watch(exchange, changed) {
      const watcher: Watcher = { exchange, changed, reported: undefined };
      watchers.add(watcher);
      void tell(state, watcher);
      return () => watchers.delete(watcher);
    },
    stop() {
      state.stopped = true;
      state.stopTelling?.();
      watchers.clear();
    },
  };
}

function takeEntry(state: Offers, member: Member, old: ListEntry | undefined, entry: ListEntry, shared: boolean): void {
  if (old?.fault?.reason !== entry.fault?.reason) state.parts.observed(member, entry);
  if (entry.notices !== undefined && entry.notices.length > 0) state.parts.noticed(member, entry.notices);
  if (old?.lists !== entry.lists || old?.fault?.reason !== entry.fault?.reason) renew(state);
  if (shared && entry.fault !== undefined) state.parts.clock.after(GRACE_MS, () => renew(state));
}

function renew(state: Offers): void {
  state.version += 1;
  if (state.stopped || state.stopTelling !== undefined || state.watchers.size === 0) return;
  state.stopTelling = state.parts.clock.after(TOGETHER_MS, () => {
    state.stopTelling = undefined;
    for (const watcher of state.watchers) void tell(state, watcher);
  });
}

async function tell(state: Offers, watcher: Watcher): Promise<void> {
  const { offer } = await keptFor(state, watcher.exchange, true);
  const { reported } = watcher;
  watcher.reported = offer;
  if (reported === undefined || reported === offer || !state.watchers.has(watcher)) return;
  const lists = changedLists(reported, offer);
  if (lists.length > 0) watcher.changed(lists);
}

/** Returns the assembled offer. If `whole`, or if the caller has no offer yet, waits for lists that were never read. */
function keptFor(state: Offers, exchange: Exchange, whole: boolean): CachedOffer | Promise<CachedOffer> {
  const { parts, kept, entries } = state;
  const all = parts.members.all();
  const scope = all.some(({ perCaller }) => perCaller) ? exchange.caller : '';
  const found = kept.get(scope);
  if (found?.version === state.version && parts.clock.monotonic() < found.until && (found.whole || !whole))
    return found;
  const looked = all.map((member) => entries.look(member, exchange));
  if (looked.every((entry) => entry !== undefined)) return keepOffer(state, scope, all, looked);
  const reading = Promise.all(all.map((member, index) => looked[index] ?? entries.read(member, exchange)));
  if (found !== undefined && !whole) return keepOffer(state, scope, all, looked);
  return reading.then((read) => keepOffer(state, scope, all, read));
}

function knownOffer({ parts, entries }: Offers): Offer {
  const all = parts.members.all();
  const read = all.map((member) => (member.perCaller ? undefined : entries.look(member, undefined)));
  return assemble(parts, all, offeringOf(parts, read));
}

function keepOffer(state: Offers, scope: string, all: readonly Member[], read: ListEntries): CachedOffer {
  const { parts, kept, version, rules } = state;
  const now = parts.clock.monotonic();
  const before = kept.get(scope);
  const offering = offeringOf(parts, read);
  const same = before !== undefined && before.rules === rules && sameEntries(before.entries, offering);
  const offer = same ? before.offer : assemble(parts, all, offering);
  if (!same) parts.assembled(offer);
  const known = read.filter((entry) => entry !== undefined);
  const until = Math.min(now + LOOK_AGAIN_MS, ...known.map((entry) => Math.max(entry.until, now + 100)));
  const whole = known.length === read.length;
  const missing = all.find((_member, index) => offering[index] === undefined);
  const made: CachedOffer = { version, rules, until, offer, whole, entries: offering, missing };
  setBounded(kept, scope, made, OFFERS_MAX);
  return made;
}

function assemble({ rules, own, optimized }: CatalogueParts, all: readonly Member[], offering: ListEntries): Offer {
  const offers = all.flatMap(({ name }, index): readonly OfferingMember[] => {
    const lists = offering[index]?.lists;
    return lists === undefined ? [] : [{ name, lists }];
  });
  return assembleOffer(offers, rules(), own?.(), optimized());
}

/** Returns the entries for the offer. In mode `fail`, old lists of a failing member stay. */
function offeringOf({ mode, clock }: CatalogueParts, read: ListEntries) {
  const isKept = (since: number | undefined) => since === undefined || clock.monotonic() - since < GRACE_MS;
  return read.map((entry) => {
    if (entry?.lists === undefined) return undefined;
    return mode() === 'fail' || isKept(entry.failingSince) ? entry : undefined;
  });
}

function sameEntries(a: ListEntries, b: ListEntries): boolean {
  return a.length === b.length && a.every((entry, index) => entry?.lists === b[index]?.lists);
}

/** Returns the offer. With partialFailureMode `fail`, returns the fault of a missing or unhealthy member instead. */
function offered({ parts, entries }: Offers, exchange: Exchange, { offer, missing }: CachedOffer): Offered {
  if (parts.mode() === 'best_effort') return { ok: true, offer };
  const needed = parts.members.all().find((member) => member === missing || !member.health.usable());
  if (needed === undefined) return { ok: true, offer };
  return { ok: false, fault: missingMember(needed, entries.look(needed, exchange)?.fault) };
}

const KEPT_REASONS: ReadonlySet<BackendFault['reason']> = new Set(['unauthorized', 'forbidden', 'timeout']);
const AGAIN_S = 5;

function missingMember({ name, health }: Member, fault: BackendFault | undefined): BackendFault {
  const reason = fault !== undefined && KEPT_REASONS.has(fault.reason) ? fault.reason : 'unreachable';
  const why = fault === undefined ? '' : `: ${fault.message}`;
  const message = `the backend ${name} is not available${why}. With partialFailureMode fail lists need every backend: try again in ${AGAIN_S} s, or repair it, remove it or set best_effort`;
  return { reason, message, retryAfterSeconds: AGAIN_S, detail: fault?.detail ?? health.report().message };
}
