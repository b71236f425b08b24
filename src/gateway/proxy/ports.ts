// Defines the ports of a proxy to the outside besides its backend: time, randomness, logs, traces.

import type { Json, JsonObject } from '#std/json.ts';
import type { BackendClock } from '../backends/ports.ts';

export interface ProxyClock extends BackendClock {
  /** Calls back repeatedly until it is cancelled; does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
  /** Calls back at the end of this turn of the event loop, together with all other tasks of the turn. */
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
  /** Context for the other side, so that its spans are children of this one. */
  readonly context: TraceContext;
  /** False if the span was not sampled, so that `end` need not be called. */
  readonly recording: boolean;
  /** 32 hexadecimal digits, for logs. */
  readonly traceId: string;
  /** Ends the span. `attributes` never contain a token or the value of an argument. */
  end(name: string, attributes: Readonly<Record<string, Json>>, failed: boolean): void;
}

/** Begins the span of one request of a client, or of a part of its answer; `startMs` is in milliseconds since 1970. */
export type BeginSpan = (parent: TraceContext, startMs: number, kind?: 'internal') => CallSpan;
