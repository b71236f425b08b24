// Finds the trace context of a request.

import type { IncomingMessage } from 'node:http';
import type { Message } from '../wire/message.ts';
import type { TraceContext } from './ports.ts';

/**
 * Returns the trace context of the message, or else of the headers (OpenTelemetry semantic conventions for MCP, context
 * propagation).
 */
export function traceParent({ headers }: IncomingMessage, message: Message | undefined): TraceContext {
  const meta = message === undefined || message.kind === 'response' ? undefined : message.meta;
  const traceparent = traceText(meta?.traceparent);
  if (meta !== undefined && traceparent !== undefined) {
    return { traceparent, tracestate: traceText(meta.tracestate), baggage: traceText(meta.baggage) };
  }
  return {
    traceparent: traceText(headers.traceparent),
    tracestate: traceText(headers.tracestate),
    baggage: traceText(headers.baggage),
  };
}

/**
 * Maximum length of each text: more than trace headers need (W3C Baggage section 3.3.2), and far below the head size
 * that servers accept.
 */
const TRACE_TEXT_MAX = 8192;

/** Returns the text, or undefined if it cannot be a header value. Bodies may contain any text. */
function traceText(value: string | readonly string[] | undefined): string | undefined {
  const fits = typeof value === 'string' && value.length <= TRACE_TEXT_MAX && /^[\t\x20-\x7e]*$/.test(value);
  return fits ? value : undefined;
}
