// Who may reach a proxy from where, and a place among the calls and streams that there may be.

import type { IncomingMessage } from 'node:http';
import type { Refusal } from './faults.ts';

/** Who may reach the listener from where; headers of every answer follow from it. */
export interface Doorway {
  /** Undefined where the request may come in. */
  refuse(request: IncomingMessage): Refusal | undefined;
  /** Undefined if health, metrics, documents and logins may be answered as well. */
  refuseRebinding(request: IncomingMessage): Refusal | undefined;
  /** Of every answer, for pages of other origins that may read it. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Headers of the answer to a preflight request; undefined where it is none, or none that is permitted. */
  preflight(request: IncomingMessage): Readonly<Record<string, string>> | undefined;
}

/** A place among the calls or streams that there may be; to be left once. */
export interface Place {
  leave(): void;
}
