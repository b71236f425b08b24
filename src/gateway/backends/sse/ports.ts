// Names what an HTTP+SSE server is configured with, and what it needs of the world.

import type { BackendClock, Upstream } from '../ports.ts';
import type { BackendObserver } from '../sessions/observer.ts';

export interface SseOptions {
  /** Of the event stream, such as http://mcp-weather:8080/sse. */
  readonly url: string;
  /** What the server sees as Host; absent: that of the URL. */
  readonly host?: string;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Largest event. */
  readonly messageBytes: number;
}

export interface SsePorts {
  readonly upstream: Upstream;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
}
