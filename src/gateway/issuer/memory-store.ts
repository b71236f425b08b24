// Stores the records of the authorization server in the memory of this process. Suitable for a single replica whose
// records may be lost.

import { setBounded } from '#std/bounded.ts';
import type { IssuerClock, IssuerStore } from './ports.ts';

interface StoredRecord {
  readonly value: string;
  /** Expiry in monotonic milliseconds. */
  readonly until: number;
}

/**
 * Maximum number of records of one kind. New records replace the oldest records of the same kind. Records that any
 * request can create (registrations, unfinished logins) have other kinds than the results of logins.
 */
const KIND_MAX = 20_000;

export function createMemoryStore({ monotonic }: Pick<IssuerClock, 'monotonic'>): IssuerStore {
  const kinds = new Map<string, Map<string, StoredRecord>>();

  function kindOf(key: string): Map<string, StoredRecord> {
    const name = key.slice(0, key.indexOf(':'));
    const known = kinds.get(name) ?? new Map<string, StoredRecord>();
    kinds.set(name, known);
    return known;
  }

  function read(key: string): string | undefined {
    const kept = kindOf(key).get(key);
    if (kept === undefined) return undefined;
    if (monotonic() < kept.until) return kept.value;
    kindOf(key).delete(key);
    return undefined;
  }

  function write(key: string, value: string, ttlMs: number): void {
    const kind = kindOf(key);
    dropExpired(kind, monotonic());
    setBounded(kind, key, { value, until: monotonic() + ttlMs }, KIND_MAX);
  }

  return {
    get: async (key) => read(key),
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    async add(key, value, ttlMs) {
      if (read(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async take(key) {
      const value = read(key);
      kindOf(key).delete(key);
      return value;
    },
    async replace(key, from, to, ttlMs) {
      if (read(key) !== from) return false;
      write(key, to, ttlMs);
      return true;
    },
    async delete(keys) {
      for (const key of keys) kindOf(key).delete(key);
    },
  };
}

/** Deletes expired records. Checks only a few of the oldest records at each write, so that no write takes long. */
function dropExpired(kind: Map<string, StoredRecord>, now: number): void {
  let looked = 0;
  for (const [key, { until }] of kind) {
    looked += 1;
    if (until < now) kind.delete(key);
    if (looked >= 8) return;
  }
}
