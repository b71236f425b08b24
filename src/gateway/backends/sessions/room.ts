// Chooses the session that ends when another client needs room for a new session.

import type { BackendFault } from '../backend.ts';
import { ofMostFrequent } from './of-most-frequent.ts';
import type { Session } from './session.ts';

export interface Waiting {
  readonly session: Session;
  /** Sessions whose `initialize` has no answer yet, the oldest first. */
  readonly opening: ReadonlySet<Session>;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly now: number;
}

const MADE_ROOM: BackendFault = { reason: 'closed', message: 'the session was ended in favour of another' };
/**
 * Time without messages after which a session may be ended for another client. An open stream without messages does not
 * count as use, because clients keep a stream open all the time.
 */
const QUIET_MS = 60_000;

/**
 * Ends the longest unused session of the caller with the most unused sessions. A caller that opens many sessions
 * therefore ends its own sessions.
 */
export function endUnused(sessions: ReadonlyMap<string, Session>): boolean {
  const unused = [...sessions.values()].filter((session) => !session.busy());
  return endOldest(
    ofMostFrequent(unused, ({ caller }) => caller),
    (session) => session.idleSince(),
  );
}

/**
 * Ends a quiet session for a client that waits for a process. If the client's caller has sessions, ends a session of
 * this caller. A caller therefore cannot displace other callers repeatedly.
 */
export function endQuiet({ session: { caller }, session, opening, sessions, now }: Waiting): boolean {
  const all = [...sessions.values()];
  const own = all.filter((other) => other.caller === caller);
  // If a caller opens several sessions at once, only the first of them may end another caller's session.
  const first = [...opening].find((other) => other.caller === caller);
  if (own.length === 0 && first !== session) return false;
  const quiet = (own.length > 0 ? own : all).filter(
    (other) => !other.answering() && now - other.quietSince() >= QUIET_MS,
  );
  return endOldest(quiet, (other) => other.quietSince());
}

function endOldest(sessions: readonly Session[], since: (session: Session) => number): boolean {
  let oldest = sessions[0];
  for (const session of sessions) if (oldest === undefined || since(session) < since(oldest)) oldest = session;
  oldest?.end(MADE_ROOM);
  return oldest !== undefined;
}
