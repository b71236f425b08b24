// Defines the checks of host, origin and limits at the entrance of a proxy.

import type { IncomingMessage } from 'node:http';
import type { Refusal } from './faults.ts';

export interface Doorway {
  /** Returns the refusal of a request for MCP, or undefined if the request may pass. */
  refuse(request: IncomingMessage): Refusal | undefined;
  /**
   * Returns the refusal of a request for health, metrics, documents or logins, or undefined if the request may pass.
   */
  refuseRebinding(request: IncomingMessage): Refusal | undefined;
  /** Returns the headers of every answer: CORS headers for permitted origins. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Returns the headers for a permitted preflight request, or undefined for other requests. */
  preflight(request: IncomingMessage): Readonly<Record<string, string>> | undefined;
}

/** A slot among the allowed calls or streams. The holder calls `leave` once. */
export interface Place {
  leave(): void;
}
