// Defines the store through which all replicas share sessions.

/**
 * Stores each session as text fields, and deletes it after a time without use. Rejects with a Failure if the store
 * cannot be reached.
 */
export interface SessionStore {
  begin(id: string, fields: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the fields. Returns undefined if the session does not exist or was deleted. */
  load(id: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Sets the field if it is missing. Returns the value that the field has afterwards. */
  claim(id: string, field: string, value: string): Promise<string>;
  set(id: string, field: string, value: string): Promise<void>;
  remove(id: string, field: string): Promise<void>;
  /** Restarts the time without use. Returns false if the session no longer exists. */
  touch(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  close(): Promise<void>;
}
