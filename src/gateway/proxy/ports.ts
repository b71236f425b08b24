// Defines the ports of a proxy, except its backend: time, logs, traces.

import type { Json, JsonObject } from '#std/json.ts';
import type { BackendClock } from '../backends/ports.ts';

export interface ProxyClock extends BackendClock {
  /** Calls `task` repeatedly until the returned function is called. The timer does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
  /** Calls `task` at the end of this turn of the event loop, with the other tasks of the turn. */
  atTurnEnd(task: () => void): void;
}

export interface ProxyLog {
  debug(facts: JsonObject, message: string): void;
  info(facts: JsonObject, message: string): void;
  warn(facts: JsonObject, message: string): void;
  error(facts: JsonObject, message: string): void;
}

export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface CallSpan {
  /** Trace context that makes the server's spans children of this span. */
  readonly context: TraceContext;
  /** False if the span was not sampled: `end` then has no effect. */
  readonly recording: boolean;
  /** 32 hexadecimal digits, for logs. */
  readonly traceId: string;
  /** Ends the span. `attributes` must not contain tokens or values of arguments. */
  end(name: string, attributes: Readonly<Record<string, Json>>, failed: boolean): void;
}

/** Begins the span of a request, or of a part of its answer. `startMs` is in milliseconds since 1970. */
export type BeginSpan = (parent: TraceContext, startMs: number, kind?: 'internal') => CallSpan;
