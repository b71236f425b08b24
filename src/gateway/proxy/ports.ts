// What a proxy needs of the world beside its backend: time, chance, logs, traces.

import type { Json, JsonObject } from '#std/json.ts';
import type { BackendClock } from '../backends/ports.ts';

export interface ProxyClock extends BackendClock {
  /** Calls back again and again until it is taken back; does not keep the process alive. */
  every(ms: number, task: () => void): () => void;
  /** Calls back at the end of this turn of the event loop: all that are given within it are called together. */
  atTurnEnd(task: () => void): void;
}

export interface ProxyLog {
  debug(facts: JsonObject, message: string): void;
  info(facts: JsonObject, message: string): void;
  warn(facts: JsonObject, message: string): void;
  error(facts: JsonObject, message: string): void;
}

/** W3C Trace Context and baggage, as they came with a request. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface CallSpan {
  /** What goes on to the other side, so that its spans are parts of this one. */
  readonly context: TraceContext;
  /** False: it was not sampled, and `end` need not be called. */
  readonly recording: boolean;
  /** 32 hexadecimal digits, for logs. */
  readonly traceId: string;
  /** `attributes` never hold a token or the value of an argument. */
  end(name: string, attributes: Readonly<Record<string, Json>>, failed: boolean): void;
}

/** Begins the span of one request of a client, or of a part of its answer; `startMs`: milliseconds since 1970. */
export type BeginSpan = (parent: TraceContext, startMs: number, kind?: 'internal') => CallSpan;
