// Defines which hosts and origins may send requests to a proxy, and the places among the allowed calls and streams.

import type { IncomingMessage } from 'node:http';
import type { Refusal } from './faults.ts';

/** Checks host and origin of requests, and returns the headers of answers. */
export interface Doorway {
  /** Returns the refusal, or undefined if the request is allowed. */
  refuse(request: IncomingMessage): Refusal | undefined;
  /**
   * Returns the refusal, or undefined if the request may get an answer, even for health, metrics, documents and logins.
   */
  refuseRebinding(request: IncomingMessage): Refusal | undefined;
  /** Returns headers of every answer, for pages of other origins that may read it. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Returns the headers of the answer to a permitted preflight request; undefined for other requests. */
  preflight(request: IncomingMessage): Readonly<Record<string, string>> | undefined;
}

/** A place among the allowed calls or streams, which must be left once. */
export interface Place {
  leave(): void;
}
