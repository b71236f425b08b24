// Defines the configuration of an HTTP+SSE server and its dependencies.

import type { BackendClock, Upstream } from '../ports.ts';
import type { BackendObserver } from '../sessions/observer.ts';

export interface SseOptions {
  /** URL of the event stream, such as http://mcp-weather:8080/sse. */
  readonly url: string;
  /** Host header for the server. If absent, the host of the URL is sent. */
  readonly host?: string;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Maximum size of an event in bytes. */
  readonly messageBytes: number;
}

export interface SsePorts {
  readonly upstream: Upstream;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
}
