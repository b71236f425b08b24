// Defines the store of sessions, with which every replica can serve every session.

/**
 * Stores a session as a set of texts by name, forgotten after a time without use. Rejects with a Failure if the store
 * cannot be reached.
 */
export interface SessionStore {
  begin(id: string, fields: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the session's texts, or undefined if the session does not exist or was forgotten. */
  load(id: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Sets a missing field; returns the value that the field then has. */
  claim(id: string, field: string, value: string): Promise<string>;
  set(id: string, field: string, value: string): Promise<void>;
  remove(id: string, field: string): Promise<void>;
  /** Notes a use. Returns false if the session no longer exists. */
  touch(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  close(): Promise<void>;
}
