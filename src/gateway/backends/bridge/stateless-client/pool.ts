// Keeps sessions at the server for clients without sessions, by caller and capabilities. Opens a session when the first
// request needs it. A call during which the server may question the client gets a separate session, within limits. A
// question of the server then belongs to this call, even if the question arrives on another stream.

import { canonicalJson, type JsonObject } from '#std/json.ts';
import type { BackendFault } from '../../backend.ts';
import { callerOwner } from '../../caller-key.ts';
import { ofMostFrequent } from '../../sessions/of-most-frequent.ts';
import type { Cause } from '../ask.ts';
import type { BridgeContext } from '../context.ts';
import { type BackendSession, closeSession, type Opened, openSession } from './backend-session.ts';
import { ensureStream } from './stream.ts';

interface SessionNeed {
  readonly cause: Cause;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
  /** True if the server may question the client during the call. Two such calls cannot share a session. */
  readonly alone: boolean;
}

export type Lent =
  | {
      readonly ok: true;
      readonly session: BackendSession;
      /** Ends the exclusive use of the session. A second call has no effect. */
      release(): void;
    }
  | Extract<Opened, { readonly ok: false }>;

export interface SessionPool {
  find(need: SessionNeed): Lent | Promise<Lent>;
  /** Forgets a session that the server no longer has. */
  lose(session: BackendSession): void;
  close(): Promise<void>;
}

interface Slot {
  readonly caller: string;
  session?: BackendSession;
  opening?: Promise<Opened>;
  /** Number of calls in the slot that need a separate session. */
  asking: number;
}

interface Pool {
  readonly context: BridgeContext;
  /** Slots by caller and capabilities. The most recently used client is last. */
  readonly clients: Map<string, Slot[]>;
  stopTimer?: () => void;
}

/** Time limit for servers to confirm that their sessions have ended. */
const GOODBYE_MS = 1000;
/** Time after which an unused session is ended. The first session of each client is kept for `backendSessionIdleMs`. */
const EXTRA_IDLE_MS = 30_000;
const SWEEP_MS = 15_000;

const FULL: BackendFault = {
  reason: 'busy',
  message: 'there are too many sessions at the MCP server',
  retryAfterSeconds: 5,
};

export function createSessionPool(context: BridgeContext): SessionPool {
  const pool: Pool = { context, clients: new Map() };
  return {
    find: (need) => findSession(pool, need),
    lose: (session) => loseSession(pool, session),
    async close() {
      pool.stopTimer?.();
      const ended = sessionsOf(pool).map((session) => {
        for (const listener of [...session.listeners]) listener.end();
        return drop(pool, session);
      });
      const late = new Promise<void>((resolve) => context.ports.clock.after(GOODBYE_MS, resolve));
      await Promise.race([Promise.all(ended), late]);
    },
  };
}

function sessionsOf({ clients }: Pool): readonly BackendSession[] {
  return [...clients.values()].flatMap((slots) => slots.flatMap(({ session }) => session ?? []));
}

function findSession(pool: Pool, need: SessionNeed): Lent | Promise<Lent> {
  const { cause, capabilities } = need;
  const key = `${cause.caller}\n${canonicalJson(capabilities)}`;
  const slots = pool.clients.get(key) ?? [];
  pool.clients.delete(key);
  pool.clients.set(key, slots);
  const slot = chooseSlot(pool, slots, need, key);
  if (slot === undefined) {
    if (slots.length === 0) pool.clients.delete(key);
    return { ok: false, fault: FULL };
  }
  return lend(pool, slots, slot, need);
}

function chooseSlot(pool: Pool, slots: Slot[], need: SessionNeed, key: string): Slot | undefined {
  const free = need.alone ? slots.find(({ asking }) => asking === 0) : slots[0];
  if (free !== undefined) return free;
  const most = pool.context.limits.sessionsPerClient;
  // A call that needs a separate session is refused. In a shared session, another client might answer the question.
  if (slots.length >= Math.max(most, 1) || !makeRoom(pool, slots, need.cause.caller))
    return need.alone ? undefined : slots[0];
  const slot: Slot = { caller: need.cause.caller, asking: 0 };
  slots.push(slot);
  slot.opening = openInSlot(pool, slots, slot, need, key);
  return slot;
}

function lend({ context }: Pool, slots: readonly Slot[], slot: Slot, need: SessionNeed): Lent | Promise<Lent> {
  let claimed = need.alone;
  if (claimed) slot.asking += 1;
  const release = () => {
    if (claimed) slot.asking -= 1;
    claimed = false;
  };
  const { session, opening } = slot;
  if (session !== undefined) {
    session.usedAt = context.ports.clock.monotonic();
    session.cause = need.cause;
    return { ok: true, session, release };
  }
  if (opening === undefined) return { ok: false, fault: FULL };
  return opening.then((opened): Lent => {
    if (opened.ok) return { ok: true, session: opened.session, release };
    release();
    const first = need.alone ? undefined : slots[0]?.session;
    return first === undefined ? opened : { ok: true, session: first, release };
  });
}

async function openInSlot(pool: Pool, slots: Slot[], slot: Slot, need: SessionNeed, key: string): Promise<Opened> {
  const { context } = pool;
  const { capabilities, clientInfo, cause } = need;
  const opened = await openSession(context, { key, capabilities, clientInfo }, cause);
  if (opened.ok) {
    const { session } = opened;
    startSweeping(pool);
    // The server sends some requests outside the stream of a call. Without the GET stream, these requests would be
    // lost.
    if (session.mayAsk) await ensureStream(context, session, () => loseSession(pool, session));
    if (!session.ended) slot.session = session;
  } else if (opened.status !== undefined) context.doubtEra();
  slot.opening = undefined;
  if (slot.session === undefined) removeSlot(pool, key, slots, slot);
  return opened;
}

function removeSlot({ clients }: Pool, key: string, slots: Slot[], slot: Slot): void {
  const index = slots.indexOf(slot);
  if (index >= 0) slots.splice(index, 1);
  if (slots.length === 0 && clients.get(key) === slots) clients.delete(key);
}

function startSweeping(pool: Pool): void {
  const { clock } = pool.context.ports;
  pool.stopTimer ??= clock.after(Math.min(SWEEP_MS, pool.context.limits.backendSessionIdleMs / 2), () => sweep(pool));
}

function sweep(pool: Pool): void {
  const { context, clients } = pool;
  const { backendSessionIdleMs: idleMs } = context.limits;
  const now = context.ports.clock.monotonic();
  for (const slots of [...clients.values()]) {
    for (const [index, { session }] of [...slots.entries()]) {
      const keptMs = index === 0 ? idleMs : Math.min(EXTRA_IDLE_MS, idleMs);
      if (session !== undefined && isIdle(session) && now - session.usedAt >= keptMs) void drop(pool, session);
    }
  }
  pool.stopTimer = undefined;
  if (clients.size > 0) startSweeping(pool);
}

/**
 * Makes room for one session. Returns false if that is impossible. If the pool is full, ends an idle session of the
 * caller with the most sessions.
 * If the requesting caller has half of all sessions, ends an idle session of this caller. Clients choose their
 * capabilities, so one caller could otherwise fill the pool.
 */
function makeRoom(pool: Pool, own: readonly Slot[], caller: string): boolean {
  const most = pool.context.limits.backendSessions;
  const all = [...pool.clients.values()].flat();
  const owner = callerOwner(caller);
  const isOwn = (slot: { readonly caller: string }) => callerOwner(slot.caller) === owner;
  const crowds = all.filter(isOwn).length >= Math.max(most / 2, 1);
  if (!crowds && all.length < most) return true;
  // A session of the requesting client is never ended.
  const idle = all.flatMap((slot) =>
    slot.session !== undefined && isIdle(slot.session) && !own.includes(slot)
      ? { caller: slot.caller, session: slot.session }
      : [],
  );
  const [ended] = crowds ? idle.filter(isOwn) : ofMostFrequent(idle, (each) => callerOwner(each.caller));
  if (ended !== undefined) void drop(pool, ended.session);
  return ended !== undefined;
}

function isIdle({ calls, listeners }: BackendSession): boolean {
  return calls.size === 0 && listeners.size === 0;
}

function takeOut(pool: Pool, session: BackendSession): void {
  const slots = pool.clients.get(session.key) ?? [];
  const slot = slots.find((each) => each.session === session);
  if (slot !== undefined) removeSlot(pool, session.key, slots, slot);
}

function drop(pool: Pool, session: BackendSession): Promise<void> {
  takeOut(pool, session);
  return closeSession(pool.context, session);
}

function loseSession(pool: Pool, session: BackendSession): void {
  if (session.ended) return;
  session.ended = true;
  takeOut(pool, session);
  if (session.stream.kind === 'open') session.stream.flow.abort();
  for (const listener of [...session.listeners]) listener.lose();
}
