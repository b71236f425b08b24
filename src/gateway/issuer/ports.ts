// Defines the dependencies of the authorization server: requests, a store that all replicas share, time, randomness and
// secrets.

import type { Fetch } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerCode } from './codes.ts';

/**
 * Store of texts by key, each with a lifetime. Every operation is atomic across replicas. Operations throw a retryable
 * Failure if the store is unavailable. The part of a key before the first colon is the kind of the record.
 */
export interface IssuerStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Adds the text. If the key exists, changes nothing and returns false. */
  add(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Returns and deletes the text. Only one of several concurrent callers gets the text. */
  take(key: string): Promise<string | undefined>;
  /** Replaces the text. If the stored text is not `from`, changes nothing and returns false. */
  replace(key: string, from: string, to: string, ttlMs: number): Promise<boolean>;
  delete(keys: readonly string[]): Promise<void>;
}

export interface IssuerClock {
  /** Returns milliseconds since 1970. */
  now(): number;
  /** Returns monotonic milliseconds. */
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
   * Returns the whole current content. Must cost almost nothing while the file is unchanged. Throws a Failure whose
   * message contains the path.
   */
  readonly files: { read(path: string): string };
  readonly environment: Environment;
  readonly notify: (notice: IssuerNotice) => void;
}
