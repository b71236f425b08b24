// Where sessions are kept so that every replica can serve them.

/** A session is a set of texts by name, forgotten after a time without use. Rejects with a Failure where it cannot be reached. */
export interface SessionStore {
  begin(id: string, fields: Readonly<Record<string, string>>): Promise<void>;
  /** Undefined: there is none, or it was forgotten. */
  load(id: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Sets what is not there; gives what is there then. */
  claim(id: string, field: string, value: string): Promise<string>;
  set(id: string, field: string, value: string): Promise<void>;
  remove(id: string, field: string): Promise<void>;
  /** It was used. False: it is no longer there. */
  touch(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  close(): Promise<void>;
}
