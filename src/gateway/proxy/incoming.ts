// A request of a client on its way through the gate, and as it leaves for the server.

import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../backends/backend.ts';
import type { LockReading } from '../gate/tools-lock/keeper.ts';
import { encodeHeaderValue, HEADERS, requestHeadersToForward } from '../wire/headers.ts';
import type { Message } from '../wire/message.ts';
import type { AdmittedMessage } from './admit.ts';
import type { Caller } from './caller.ts';
import type { TraceContext } from './ports.ts';

/** A request whose origin, caller and limits were looked at. */
export interface Incoming {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: Buffer;
  readonly caller: Caller;
  /** Begins the span of the request, as a part of what the message or else the headers say; gives what goes on. */
  readonly trace: (message: Message | undefined) => TraceContext;
  /** Headers that the proxy adds: who asked, through what. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Sealed session in place of the header: the transport of 2024-11-05 has it elsewhere. */
  readonly backendSession?: { readonly id: string | undefined };
  /** `name: outcome` of each webhook that was asked about it. */
  readonly webhooks?: readonly string[];
  /** The body as the client sent it, if webhooks have changed it. */
  readonly received?: Buffer;
  /** The session, if another transport than streamable HTTP knows it. */
  readonly sessionScope?: string;
  /** True: the list that the message needs was asked for, and what is not known now is not known. */
  readonly listAsked?: boolean;
  /** The reading of that list; in the requests for its pages and, afterwards, in the message that waited for it. */
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

/** Who sent the request through what: the proxy says it anew. */
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
  // Credentials come last and decide whether it stays.
  const { authorization } = incoming.headers;
  if (authorization !== undefined) headers.authorization = authorization;
  if (backendName !== undefined && headers[HEADERS.name] !== undefined) {
    headers[HEADERS.name] = encodeHeaderValue(backendName);
  }
  if (trace.traceparent !== undefined) headers.traceparent = trace.traceparent;
  // It belongs to the parent that it came with (W3C Trace Context, section 4.3). To delete what is absent takes a while, too.
  if (trace.tracestate !== undefined) headers.tracestate = trace.tracestate;
  else if (headers.tracestate !== undefined) delete headers.tracestate;
  if (trace.baggage !== undefined) headers.baggage = trace.baggage;
  return headers;
}
