// What the authorization server needs of the world: requests, a store that all replicas share, time and chance, secrets.

import type { Fetch } from '#auth/ports.ts';
import type { Environment } from '#std/environment.ts';
import type { JsonObject } from '#std/json.ts';
import type { IssuerCode } from './codes.ts';

/**
 * Texts by key, each for a time. Every operation is atomic, also between replicas. Throws a retryable Failure where the
 * store cannot be asked. The part of a key before its first colon says what kind of record it is.
 */
export interface IssuerStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** False: there is one already, which stays. */
  add(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Gives it and deletes it: of several who ask, one gets it. */
  take(key: string): Promise<string | undefined>;
  /** False: it is not `from` any more, and stays as it is. */
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

/** What an operator should know. Never holds a secret or a token. */
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
  /** The whole text as it is now; costs next to nothing while the file is as it was. Throws a Failure that names the path. */
  readonly files: { read(path: string): string };
  readonly environment: Environment;
  readonly notify: (notice: IssuerNotice) => void;
}
