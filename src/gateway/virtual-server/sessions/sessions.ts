// Manages the sessions of a virtual server on this replica. Loads sessions of other replicas from a shared store, if
// configured.

import type { Exchange } from '../../backends/backend.ts';
import { callerOwner } from '../../backends/caller-key.ts';
import { ofMostFrequent } from '../../backends/sessions/of-most-frequent.ts';
import type { SessionStore } from './ports.ts';
import {
  type ClientFacts,
  formatClient,
  type MemberSession,
  newSession,
  readSession,
  type Session,
  sessionFields,
} from './session.ts';

interface SessionClock {
  monotonic(): number;
  every(ms: number, task: () => void): () => void;
  random(size: number): Buffer;
}

export interface Sessions {
  begin(client: ClientFacts, exchange: Exchange): Session | Promise<Session>;
  /**
   * Returns the session. Returns undefined if the session has ended or is unknown here and in the store. Rejects if the
   * store is needed but cannot be reached.
   */
  find(id: string): Session | undefined | Promise<Session | undefined>;
  /**
   * Stores the session at the member. If another replica stored its session at the member first, returns that session.
   */
  joinMember(session: Session, member: string, opened: MemberSession): Promise<MemberSession>;
  leaveMember(session: Session, member: string): Promise<void>;
  note(session: Session, change: SessionChange): Promise<void>;
  /** Ends the session here and in the store. The sessions at members stay open. */
  end(session: Session): Promise<void>;
  size(): number;
  stop(): Promise<void>;
}

type SessionChange =
  | { readonly logLevel: string }
  | { readonly subscribed: string; readonly member: string }
  | { readonly unsubscribed: string };

export interface SessionParts {
  readonly clock: SessionClock;
  /** undefined if sessions exist in this replica only. */
  readonly store: SessionStore | undefined;
  /**
   * Receives a session that was idle for too long or was removed because of the session limit. Its sessions at members
   * can then be ended. Not called if a store is configured, because another replica may continue the session.
   */
  readonly expired: (session: Session) => void;
}

export const SESSIONS_MAX = 12_000;
const IDLE_MS = 7_200_000;
const SWEEP_MS = 30_000;
/** Interval after which a used session is checked in the store, since another replica may have ended it. */
const CHECK_MS = 2_000;
const ID_BYTES = 18;

interface SessionsState {
  readonly parts: SessionParts;
  /** Sessions by id, ordered by last use. */
  readonly live: Map<string, Session>;
}

export function createSessions(parts: SessionParts): Sessions {
  const { clock, store } = parts;
  const state: SessionsState = { parts, live: new Map() };
  const stopSweeping = clock.every(SWEEP_MS, () => sweep(state));
  return {
    begin(client, exchange) {
      const session = newSession(clock.random(ID_BYTES).toString('base64url'), client, clock.monotonic());
      session.last = exchange;
      if (store === undefined) return keepSession(state, session);
      return store.begin(session.id, formatClient(client)).then(() => keepSession(state, session));
    },
    find(id) {
      const now = clock.monotonic();
      const known = state.live.get(id);
      if (known === undefined) return store === undefined ? undefined : loadSession(state, store, id, now);
      if (store !== undefined && now - known.checkedAt > CHECK_MS) return confirmSession(state, store, known, now);
      return useSession(state, known, now);
    },
    async joinMember(session, member, opened) {
      const value = JSON.stringify(opened);
      const counts = store === undefined ? value : await store.claim(session.id, sessionFields.member(member), value);
      const joined: MemberSession = counts === value ? opened : JSON.parse(counts);
      session.members.set(member, joined);
      return joined;
    },
    async leaveMember(session, member) {
      session.members.delete(member);
      await store?.remove(session.id, sessionFields.member(member));
    },
    note: (session, change) => noteChange(session, change, store),
    async end(session) {
      session.over = true;
      state.live.delete(session.id);
      session.stream?.end();
      await store?.end(session.id);
    },
    size: () => state.live.size,
    async stop() {
      stopSweeping();
      for (const session of state.live.values()) session.stream?.end();
    },
  };
}

function dropSession({ parts: { store, expired }, live }: SessionsState, session: Session): void {
  live.delete(session.id);
  session.stream?.end();
  // Other replicas may continue a session in the store.
  if (store !== undefined) return;
  session.over = true;
  expired(session);
}

function sweep(state: SessionsState): void {
  const now = state.parts.clock.monotonic();
  for (const session of state.live.values()) {
    if (isBusy(session)) session.usedAt = now;
    else if (now - session.usedAt > IDLE_MS) dropSession(state, session);
  }
}

function keepSession(state: SessionsState, session: Session): Session {
  const { live } = state;
  live.set(session.id, session);
  if (live.size <= SESSIONS_MAX) return session;
  // Removes a session of the caller with the most sessions.
  const unused = [...live.values()].filter((each) => !isBusy(each));
  // `last` is undefined for a session of another replica that this replica has not used yet.
  const [oldest] = ofMostFrequent(unused, ({ last }) => last && callerOwner(last.caller));
  if (oldest !== undefined) dropSession(state, oldest);
  return session;
}

/**
 * Notes a use of the session. Moves the session to the end of the map at most once per second, because each move costs
 * time.
 */
function useSession({ live }: SessionsState, session: Session, now: number): Session {
  if (now - session.usedAt < 1000) return session;
  session.usedAt = now;
  live.delete(session.id);
  live.set(session.id, session);
  return session;
}

async function confirmSession(
  state: SessionsState,
  store: SessionStore,
  session: Session,
  now: number,
): Promise<Session | undefined> {
  session.checkedAt = now;
  // If the store cannot be reached, a known session stays usable: the sealed id proves the caller.
  const there = await store.touch(session.id).catch(() => true);
  if (there) return useSession(state, session, now);
  session.over = true;
  state.live.delete(session.id);
  session.stream?.end();
  return undefined;
}

async function loadSession(
  state: SessionsState,
  store: SessionStore,
  id: string,
  now: number,
): Promise<Session | undefined> {
  const fields = await store.load(id);
  // A simultaneous request may have loaded the session meanwhile.
  const there = state.live.get(id);
  if (there !== undefined) return there;
  const session = fields === undefined ? undefined : readSession(id, fields, now);
  return session === undefined ? undefined : keepSession(state, session);
}

async function noteChange(session: Session, change: SessionChange, store: SessionStore | undefined): Promise<void> {
  if ('logLevel' in change) {
    session.logLevel = change.logLevel;
    await store?.set(session.id, sessionFields.level, change.logLevel);
  } else if ('subscribed' in change) {
    session.subscriptions.set(change.subscribed, change.member);
    await store?.set(session.id, sessionFields.subscription(change.subscribed), change.member);
  } else {
    session.subscriptions.delete(change.unsubscribed);
    await store?.remove(session.id, sessionFields.subscription(change.unsubscribed));
  }
}

function isBusy({ stream, calls }: Session): boolean {
  return stream !== undefined || calls.size > 0;
}
