// Defines a client's request on its way through the gate, and builds the request for the server.

import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../backends/backend.ts';
import type { LockReading } from '../gate/tools-lock/keeper.ts';
import { encodeHeaderValue, HEADERS, requestHeadersToForward } from '../wire/headers.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { TraceContext } from './ports.ts';

/** A request whose origin, caller and limits are already checked. */
export interface Incoming {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: Buffer;
  readonly caller: Caller;
  /**
   * Begins the span of the request, and returns its trace context for the server. The parent is the context in the
   * message, or else in the headers.
   */
  readonly trace: (message: Message | undefined) => TraceContext;
  /** Headers that the proxy adds: the client's address and the URL that the client used. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Session at the backend, set for HTTP+SSE (MCP 2024-11-05), which has no session header. */
  readonly backendSession?: { readonly id: string | undefined };
  /** `name: outcome` of each called webhook. */
  readonly webhooks?: readonly string[];
  /** Body that the client sent, if webhooks have changed it. */
  readonly received?: Buffer;
  /** Key of the session, set for HTTP+SSE. */
  readonly sessionScope?: string;
  /**
   * True for the requests with which the proxy reads a list, and for the message that waited for this list. Prevents a
   * second reading.
   */
  readonly listAsked?: boolean;
  /**
   * Reading of the needed list. Set in the requests for the list's pages, and in the message that waited for the list.
   */
  readonly reading?: LockReading | undefined;
}

type LeavingRequest = Omit<Exchange, 'era' | 'session' | 'authorize'>;

export function leavingRequest(
  incoming: Incoming,
  message: Message | undefined,
  admitted: AdmittedMessage | undefined,
): LeavingRequest {
  const { method, path, caller } = incoming;
  return {
    method,
    path,
    headers: leavingHeaders(incoming, message, admitted?.backendName),
    body: admitted?.body ?? incoming.body,
    message: admitted?.message ?? message,
    caller: caller.key,
    identity: caller,
  };
}

/** Forwarding headers of the client, which the proxy replaces. */
const FORWARDED: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-real-ip',
]);

function leavingHeaders(
  incoming: Incoming,
  message: Message | undefined,
  backendName: string | undefined,
): Readonly<Record<string, string>> {
  const { forwarded } = incoming;
  const trace = incoming.trace(message);
  const headers = requestHeadersToForward(incoming.headers, FORWARDED);
  Object.assign(headers, forwarded);
  // The backend's credential is applied later, and may remove or replace this header.
  const { authorization } = incoming.headers;
  if (authorization !== undefined) headers.authorization = authorization;
  if (backendName !== undefined && headers[HEADERS.name] !== undefined) {
    headers[HEADERS.name] = encodeHeaderValue(backendName);
  }
  if (trace.traceparent !== undefined) headers.traceparent = trace.traceparent;
  // A tracestate belongs to the traceparent of the same source (W3C Trace Context, section 4.3). `delete` is slow even
  // for an absent property.
  if (trace.tracestate !== undefined) headers.tracestate = trace.tracestate;
  else if (headers.tracestate !== undefined) delete headers.tracestate;
  if (trace.baggage !== undefined) headers.baggage = trace.baggage;
  return headers;
}
