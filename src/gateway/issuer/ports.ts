// Defines the ports of the authorization server to the outside: requests, a store that all replicas share, time,
// randomness, secrets.

import type { Fetch } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerCode } from './codes.ts';

/**
 * A store of texts by key, each with a lifetime. Every operation is atomic, also between replicas. Throws a retryable
 * Failure if the store is unavailable. The part of a key before its first colon is the kind of the record.
 */
export interface IssuerStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Adds the text. Returns false and keeps the stored text if the key exists. */
  add(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Returns and deletes the text: only one of several simultaneous callers gets it. */
  take(key: string): Promise<string | undefined>;
  /** Replaces the text. Returns false and changes nothing if the stored text is no longer `from`. */
  replace(key: string, from: string, to: string, ttlMs: number): Promise<boolean>;
  delete(keys: readonly string[]): Promise<void>;
}

export interface IssuerClock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  after(ms: number, task: () => void): () => void;
}

/** Event for the operator. Never contains a secret or a token. */
export interface IssuerNotice {
  readonly code: IssuerCode;
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly data: JsonObject;
}

export interface IssuerPorts {
  readonly fetch: Fetch;
  readonly store: IssuerStore;
  readonly clock: IssuerClock;
  readonly random: (bytes: number) => Buffer;
  /**
   * Returns the whole current text; costs almost nothing while the file is unchanged. Throws a Failure that names the
   * path.
   */
  readonly files: { read(path: string): string };
  readonly environment: Environment;
  readonly notify: (notice: IssuerNotice) => void;
}
