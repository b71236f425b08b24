// Keeps the logins of people in the memory of this process: a restart ends them, and no store has to be protected.

import { setBounded } from '#std/bounded.ts';
import { sha256 } from '#std/hash.ts';
import type { Caller, Person } from '../ports.ts';

export interface SessionDeps {
  readonly random: (bytes: number) => Buffer;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
}

export interface Sessions {
  /** Opens a session with a new id, which is returned for the cookie. */
  open(person: Person & Required<Pick<Person, 'role'>>): string;
  /** Returns undefined if there is no such session, or if it has ended. */
  find(id: string): Caller | undefined;
  close(id: string): void;
}

const ID_BYTES = 32;
/** Sessions of people with a role. The oldest end first. */
const SESSIONS_MAX = 10_000;

export function createSessions({ random, monotonic }: SessionDeps, lifetimeMs: number): Sessions {
  /** By digest of the id. */
  const sessions = new Map<string, { readonly caller: Caller; readonly until: number }>();

  function find(key: string): Caller | undefined {
    const session = sessions.get(key);
    if (session === undefined || monotonic() < session.until) return session?.caller;
    sessions.delete(key);
    return undefined;
  }

  return {
    open({ name, role, namespaces }) {
      const id = random(ID_BYTES).toString('base64url');
      const key = sha256(id);
      const csrf = random(ID_BYTES).toString('base64url');
      const limited = namespaces === undefined ? {} : { namespaces };
      const caller: Caller = { name, role, ...limited, means: 'login', csrf, holds: () => find(key) !== undefined };
      setBounded(sessions, key, { caller, until: monotonic() + lifetimeMs }, SESSIONS_MAX);
      return id;
    },
    find: (id) => find(sha256(id)),
    close: (id) => void sessions.delete(sha256(id)),
  };
}
