// Defines the state of one session's line to an HTTP+SSE server. Adds credentials to the line's requests, and ends the
// line.

import { Failure } from '#std/failure.ts';
import { HEADERS } from '../../wire/headers.ts';
import type { Authorized, Exchange, LeavingRequest } from '../backend.ts';
import type { UpstreamFlow } from '../ports.ts';
import type { SessionHandlers, SessionLink } from '../sessions/link.ts';
import type { SseOptions, SsePorts } from './ports.ts';

export interface Line {
  readonly options: SseOptions;
  readonly ports: SsePorts;
  readonly handlers: SessionHandlers;
  /** The client's last request. Messages that the session itself creates use the credentials of this request. */
  latest: Exchange;
  stream?: UpstreamFlow;
  endpoint?: string;
  paused: boolean;
  closed: boolean;
  /** Replaces invalid bytes by U+FFFD, as the HTML Standard requires for event streams (Server-sent events). */
  readonly repair: (message: Buffer) => Buffer;
  /**
   * Resolves when the POST of `notifications/initialized` is answered or has failed. Later messages wait for this
   * promise.
   */
  greeted?: Promise<void>;
  /** Settles the promise of the opening. undefined once the line is open. */
  opening?: { readonly resolve: (link: SessionLink) => void; readonly reject: (failure: Failure) => void };
  stopTimer?: () => void;
}

const STREAM_HEADERS = { accept: 'text/event-stream' };
const MESSAGE_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Client headers that are not sent. Sessions of this transport are part of the endpoint URL. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'content-length',
  HEADERS.sessionId,
  HEADERS.lastEventId,
]);

export function leavingRequest(
  { host }: SseOptions,
  exchange: Exchange,
  method: 'GET' | 'POST',
  url: string,
  body?: Buffer,
): LeavingRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(exchange.headers)) if (!NOT_SENT.has(name)) headers[name] = value;
  Object.assign(headers, method === 'GET' ? STREAM_HEADERS : MESSAGE_HEADERS);
  if (host !== undefined) headers.host = host;
  return { method, url, headers, body };
}

/**
 * Adds credentials to a request and calls `then`, at once if no waiting is needed. Does not call `then` after the end
 * of the line.
 */
export function authorize(
  line: Line,
  exchange: Exchange,
  request: LeavingRequest,
  then: (authorized: Authorized) => void,
): void {
  const authorized = exchange.authorize?.(request) ?? { ok: true, headers: request.headers };
  if ('ok' in authorized) then(authorized);
  else
    authorized.then((settled) => {
      if (!line.closed) then(settled);
    });
}

/** Ends the line. If the line is still being opened, the opening fails. Otherwise the session ends. */
export function breakLine(line: Line, code: string, detail: string, data: { readonly reason?: string } = {}): void {
  if (line.closed) return;
  line.closed = true;
  line.stopTimer?.();
  line.stream?.abort();
  if (line.opening === undefined) line.handlers.closed(detail);
  else line.opening.reject(new Failure(code, detail, { retryable: true, data: { ...data } }));
}
