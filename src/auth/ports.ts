// Declares the ports of token validation: outbound requests, small files, the time.

import type { JsonObject } from '#std/json.ts';
import type { AuthCode } from './codes.ts';

export interface FetchRequest {
  /** Absolute http(s) URL. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM certificates that replace the trusted roots for this request. */
  readonly ca?: string;
  /** If true, connections to private, loopback and link-local addresses are allowed. */
  readonly allowPrivate?: boolean;
  /** Name of the setting that determines `allowPrivate`, for messages. */
  readonly allowPrivateBy?: string;
  /** Limit for the whole exchange, including connecting and reading the body. */
  readonly timeoutMs: number;
  /** Larger bodies fail. */
  readonly maxBytes: number;
}

export interface FetchResponse {
  readonly status: number;
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Sends one outbound request. Any status is a response; redirects are returned, not followed. Throws a Failure whose
 * message names the URL if there is no response: unreachable, refused address, timed out, too large.
 */
export type Fetch = (request: FetchRequest) => Promise<FetchResponse>;

/** Files named in the configuration: secrets and certificates, read again at each use because they rotate. */
interface Files {
  /** Returns the whole text. Throws a Failure whose message names the path. */
  read(path: string): Promise<string>;
}

interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
}

/** A fact for operators that has not caused a refusal. */
interface Notice {
  /** A code of AUTH_CODES. */
  readonly code: AuthCode;
  readonly provider: string;
  readonly message: string;
  readonly data: JsonObject;
}

export interface AuthPorts {
  readonly fetch: Fetch;
  readonly files: Files;
  readonly clock: Clock;
  readonly notify: (notice: Notice) => void;
}
