// Defines the ports of token validation: outbound requests, files, and time.

import type { JsonObject } from '#std/json.ts';
import type { AuthCode } from './codes.ts';

export interface FetchRequest {
  /** Absolute http or https URL. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM certificates that replace the trusted roots for this request. */
  readonly ca?: string;
  /** If true, the request may connect to private, loopback and link-local addresses. */
  readonly allowPrivate?: boolean;
  /** Name of the setting that determines `allowPrivate`, for messages. */
  readonly allowPrivateBy?: string;
  /** Time limit for the whole exchange, including the connection and the body. */
  readonly timeoutMs: number;
  /** A larger body is a Failure. */
  readonly maxBytes: number;
}

export interface FetchResponse {
  readonly status: number;
  /** Names in lower case. Repeated headers are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Sends one request. Returns every status, and does not follow redirects. If no response comes (unreachable, refused
 * address, timeout, too large), throws a Failure whose message names the URL.
 */
export type Fetch = (request: FetchRequest) => Promise<FetchResponse>;

/** Reads secrets and certificates that the configuration names. Reads them at each use, because they rotate. */
interface Files {
  /** Returns the whole text. Throws a Failure whose message names the path. */
  read(path: string): Promise<string>;
}

interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  monotonic(): number;
}

/** A problem that operators must know, although no request was refused because of it. */
interface Notice {
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
