// Defines the ports of a proxy to the outside besides its backend: time, randomness, logs, traces.

import type { Json, JsonObject } from '#std/json.ts';
import type { BackendClock } from '../backends/ports.ts';

export interface ProxyClock extends BackendClock {
  /** Calls `task` repeatedly until the returned function is called. Does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
  /** Calls `task` at the end of this turn of the event loop, together with all other tasks of the turn. */
  atTurnEnd(task: () => void): void;
}

export interface ProxyLog {
  debug(facts: JsonObject, message: string): void;
  info(facts: JsonObject, message: string): void;
  warn(facts: JsonObject, message: string): void;
  error(facts: JsonObject, message: string): void;
}

/** W3C Trace Context and baggage of a request. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface CallSpan {
  /** Context for the server, so that the server's spans are children of this span. */
  readonly context: TraceContext;
  /** False if the span was not sampled, so that `end` need not be called. */
  readonly recording: boolean;
  /** Id of the trace in 32 hexadecimal digits, for logs. */
  readonly traceId: string;
  /** Ends the span. `attributes` never contain a token or the value of an argument. */
  end(name: string, attributes: Readonly<Record<string, Json>>, failed: boolean): void;
}

/** Begins the span of one request of a client, or of a part of its answer; `startMs` is in milliseconds since 1970. */
export type BeginSpan = (parent: TraceContext, startMs: number, kind?: 'internal') => CallSpan;
