// Defines a request of a client on its way through the gate, and the headers with which it is sent to the server.

import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../backends/backend.ts';
import type { LockReading } from '../gate/tools-lock/keeper.ts';
import { encodeHeaderValue, HEADERS, requestHeadersToForward } from '../wire/headers.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { TraceContext } from './ports.ts';

/** A request whose origin, caller and limits were checked. */
export interface Incoming {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: Buffer;
  readonly caller: Caller;
  /**
   * Begins the span of the request, as a child of the trace context in the message, or else in the headers. Returns the
   * context for the server.
   */
  readonly trace: (message: Message | undefined) => TraceContext;
  /** Headers that the proxy adds: the client's address and the URL that the client used. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Session at the backend for the HTTP+SSE transport (MCP 2024-11-05), in place of the sealed session header. */
  readonly backendSession?: { readonly id: string | undefined };
  /** `name: outcome` of each webhook that was called about the request. */
  readonly webhooks?: readonly string[];
  /** The client's original body, if webhooks have changed it. */
  readonly received?: Buffer;
  /** Key of the session, if another transport than streamable HTTP serves it. */
  readonly sessionScope?: string;
  /**
   * Set if the list that the message needs was already read, so that it is not read again for facts that are still
   * unknown.
   */
  readonly listAsked?: boolean;
  /** Reading of this list, set in the requests for its pages and then in the message that waited for the list. */
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

/** Forwarding headers, which the proxy replaces. */
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
  // Credentials are added later, and decide whether Authorization stays.
  const { authorization } = incoming.headers;
  if (authorization !== undefined) headers.authorization = authorization;
  if (backendName !== undefined && headers[HEADERS.name] !== undefined) {
    headers[HEADERS.name] = encodeHeaderValue(backendName);
  }
  if (trace.traceparent !== undefined) headers.traceparent = trace.traceparent;
  // A tracestate belongs to the parent with which it came (W3C Trace Context, section 4.3). Deleting an absent property
  // costs time.
  if (trace.tracestate !== undefined) headers.tracestate = trace.tracestate;
  else if (headers.tracestate !== undefined) delete headers.tracestate;
  if (trace.baggage !== undefined) headers.baggage = trace.baggage;
  return headers;
}
