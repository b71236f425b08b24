// Defines who may reach a proxy from where, and the places among the allowed calls and streams.

import type { IncomingMessage } from 'node:http';
import type { Refusal } from './faults.ts';

/** Checks who may reach the listener from where, and returns the headers of answers. */
export interface Doorway {
  /** Returns undefined if the request may come in. */
  refuse(request: IncomingMessage): Refusal | undefined;
  /** Returns undefined if also health, metrics, documents and logins may be answered. */
  refuseRebinding(request: IncomingMessage): Refusal | undefined;
  /** Returns headers of every answer, for pages of other origins that may read it. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Returns the headers of the answer to a permitted preflight request; undefined for other requests. */
  preflight(request: IncomingMessage): Readonly<Record<string, string>> | undefined;
}

/** Place among the allowed calls or streams; must be left once. */
export interface Place {
  leave(): void;
}
