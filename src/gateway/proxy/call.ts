// One request of a client under way: how it begins, and how a mistake of ours ends it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Message } from '../wire/message.ts';
import { createEntry, type Ended, type Entry, givenRequestId } from './entry.ts';
import { INTERNAL } from './faults.ts';
import { type Forwarded, readForwarded } from './forwarded.ts';
import type { ProxyParts } from './parts.ts';
import type { CallSpan, TraceContext } from './ports.ts';
import { traceParent } from './trace-parent.ts';
/** A mistake of ours ends the one request that shows it, and the log says where it is. */
export function refuseBroken({ entry }: Call, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  entry.refuse(INTERNAL, { detail });
}

/** For what is called back later, when nobody is there to catch it. */
export function runGuarded(call: Call, step: () => void): void {
  try {
    step();
  } catch (error) {
    refuseBroken(call, error);
  }
}

/** One request on its way: its frame, who asks through what, and its span once that has begun. */
export interface Call {
  readonly entry: Entry;
  readonly path: string;
  readonly forwarded: Forwarded;
  /** Begins the span, as a part of what the message or else the headers say. */
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
    // Refused before it was clear what it is.
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
