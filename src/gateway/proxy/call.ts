// Begins and records one request of a client, and ends it after an internal error.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Message } from '../wire/message.ts';
import { createEntry, type Ended, type Entry, givenRequestId } from './entry.ts';
import { INTERNAL } from './faults.ts';
import { type Forwarded, readForwarded } from './forwarded.ts';
import type { ProxyParts } from './parts.ts';
import type { CallSpan, TraceContext } from './ports.ts';
import { traceParent } from './trace-parent.ts';
/** Answers with "Internal error", and logs the stack of the error. */
export function refuseBroken({ entry }: Call, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  entry.refuse(INTERNAL, { detail });
}

/** Runs a callback. If the callback throws, ends only this request. */
export function runGuarded(call: Call, step: () => void): void {
  try {
    step();
  } catch (error) {
    refuseBroken(call, error);
  }
}

export interface Call {
  readonly entry: Entry;
  readonly path: string;
  readonly forwarded: Forwarded;
  /** Begins the span. Its parent is the trace context in the message, or else in the headers. */
  readonly trace: (message: Message | undefined) => TraceContext;
}

export function beginCall(parts: ProxyParts, request: IncomingMessage, response: ServerResponse, path: string): Call {
  const { clock } = parts;
  const began = clock.monotonic();
  const beganAtMs = clock.now();
  const requestId = givenRequestId(request.headers['x-request-id']) ?? parts.newRequestId();
  const forwarded = readForwarded(request, parts.trustForwarded);
  let span: CallSpan | undefined;
  parts.active(1, 'request');

  function ended(how: Ended): void {
    parts.active(-1, 'request');
    const seconds = (clock.monotonic() - began) / 1000;
    // No span exists yet if the request was refused before its message was read.
    span ??= parts.beginSpan?.(traceParent(request, how.message), beganAtMs);
    parts.record({ request, requestId, path, seconds, span, ended: how, forwarded });
  }

  const headers = { ...parts.doorway.headers(request), 'x-request-id': requestId };
  return {
    entry: createEntry({ request, response, requestId, headers, ended }),
    path,
    forwarded,
    trace(message) {
      const parent = traceParent(request, message);
      if (parts.beginSpan === undefined) return parent;
      span ??= parts.beginSpan(parent, beganAtMs);
      return span.context;
    },
  };
}
