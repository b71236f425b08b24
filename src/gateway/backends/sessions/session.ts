// Serves one client session: its line to the server, its requests in flight, and its streams. Decides which call or
// stream gets each message.

import type { Message, NotificationMessage } from '../../wire/message.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../backend.ts';
import { acceptedTypes, createCall } from './call.ts';
import { answerEmpty, cancellation, NO_FLOW, refuseExchange } from './errors.ts';
import { EVENT_STREAM_HEADERS } from './event-stream.ts';
import type { SessionHandlers, SessionLink } from './link.ts';
import { receiveFromServer } from './server-messages.ts';
import { openState, type SessionParts, type SessionState, sendToServer } from './session-state.ts';

export interface Session {
  readonly id: string;
  readonly caller: string;
  readonly handlers: SessionHandlers;
  /** Sets the session's line after the line was opened. */
  use(link: SessionLink): void;
  /** Starts a request. The session calls `headers` when the answer begins. */
  request(exchange: Exchange, answer: Answer, headers?: () => Record<string, string>): Flow;
  /** Sends a notification or a response of the client to the server. */
  notify(exchange: Exchange, answer: Answer): Flow;
  listen(exchange: Exchange, answer: Answer): Flow;
  /** Calls `see` with the response to a request, before the client gets the response. */
  onResponse(id: string, see: (message: Buffer) => void): void;
  agree(version: string): void;
  /** Returns true if a request is in flight. */
  answering(): boolean;
  /** Returns true if a request is in flight or a client is connected. */
  busy(): boolean;
  idleSince(): number;
  /** Returns the time of the last message from the client or the server. */
  quietSince(): number;
  tick(now: number): void;
  /** Ends the session. Requests in flight fail with the fault, and streams end. */
  end(fault: BackendFault): void;
}

export function createSession(parts: SessionParts): Session {
  const state = openState(parts);
  const { id, caller } = parts;
  return {
    id,
    caller,
    handlers: {
      message(bytes, routed) {
        state.movedAt = parts.clock.monotonic();
        receiveFromServer(state, bytes, routed);
      },
      closed(detail) {
        state.link = undefined;
        end(state, { reason: 'closed', message: 'the MCP server ended the session', detail });
      },
      drain() {
        state.congested = false;
      },
    },
    use(link) {
      state.link = link;
      if (state.over) parts.closing(link.close());
    },
    request: (exchange, answer, headers) => openCall(state, exchange, answer, headers),
    notify: (exchange, answer) => passOn(state, exchange, answer),
    listen: (exchange, answer) => openListener(state, exchange, answer),
    onResponse: (requestId, see) => state.watched.set(requestId, see),
    agree(version) {
      state.version = version;
    },
    answering: () => state.calls.size > 0,
    busy: () => state.calls.size > 0 || state.streams.attached(),
    idleSince: () => state.usedAt,
    quietSince: () => state.movedAt,
    tick: (now) => tick(state, now),
    end: (fault) => end(state, fault),
  };
}

function touch(state: SessionState, now: number): void {
  state.usedAt = now;
}

function noteClient(state: SessionState, now: number): void {
  touch(state, now);
  state.movedAt = now;
}

function isCongested({ congested, link }: SessionState): boolean {
  return congested || link?.congested?.() === true;
}

const BUSY: BackendFault = { reason: 'busy', message: 'the MCP server is busy', retryAfterSeconds: 1 };

function openCall(
  state: SessionState,
  exchange: Exchange,
  answer: Answer,
  headers?: () => Record<string, string>,
): Flow {
  const { message, body } = exchange;
  if (message?.kind !== 'request' || body === undefined) return refuseExchange(answer, 400, undefined, 'no request');
  const id = message.id.json;
  if (state.calls.has(id)) return refuseExchange(answer, 400, id, 'a request with this id is in flight');
  if (isCongested(state) || state.calls.size >= state.parts.limits.calls) {
    answer.fail(BUSY);
    return NO_FLOW;
  }
  const now = state.parts.clock.monotonic();
  noteClient(state, now);
  const token = message.meta?.progressToken?.json;
  const openStream = state.streams.open;
  const call = createCall({ id, token, accepts: acceptedTypes(exchange), answer, now, openStream, headers });
  state.calls.set(id, call);
  sendToServer(state, body, exchange);
  // A disconnected client has not cancelled its request (MCP 2025-11-25, Transports). The call continues.
  return { abort: call.abort, resume: call.drained };
}

function passOn(state: SessionState, exchange: Exchange, answer: Answer): Flow {
  const { message, body } = exchange;
  if (message === undefined || body === undefined) return refuseExchange(answer, 400, undefined, 'no message');
  const now = state.parts.clock.monotonic();
  noteClient(state, now);
  if (isCongested(state)) {
    answer.fail(BUSY);
    return NO_FLOW;
  }
  if (message.kind === 'response' && !state.asked.delete(message.id?.json ?? '')) {
    state.parts.observer.dropped('response-unknown');
  } else {
    const cancelled = isCancellation(message) ? state.calls.get(message.refersTo?.json ?? '') : undefined;
    if (cancelled !== undefined) cancelled.cancelledAt = now;
    sendToServer(state, body, exchange);
  }
  answerEmpty(answer, 202);
  return NO_FLOW;
}

function isCancellation(message: Message): message is NotificationMessage {
  return message.kind === 'notification' && message.method === 'notifications/cancelled';
}

/** First revision whose clients accept an event without data. */
const PRIMED_SINCE = '2025-11-25';

function openListener(state: SessionState, exchange: Exchange, answer: Answer): Flow {
  const { streams, version } = state;
  noteClient(state, state.parts.clock.monotonic());
  if (!acceptedTypes(exchange).stream)
    return refuseExchange(answer, 406, undefined, 'the client must accept text/event-stream');
  const last = exchange.headers['last-event-id'];
  const found = last === undefined ? undefined : streams.find(last);
  if (last !== undefined && found === undefined) {
    return refuseExchange(answer, 400, undefined, 'the stream of Last-Event-ID cannot be resumed');
  }
  answer.head(200, EVENT_STREAM_HEADERS);
  const stream = found?.stream ?? streams.listen(answer, version >= PRIMED_SINCE);
  if (found !== undefined) streams.attach(stream, answer, found.event + 1);
  return { abort: () => stream.detach(answer), resume: () => stream.drained(answer) };
}

const SILENT: BackendFault = { reason: 'timeout', message: 'the MCP server did not answer in time' };

function tick(state: SessionState, now: number): void {
  const { limits } = state.parts;
  const silenceMs = state.asked.size > 0 ? limits.answerMs : limits.silenceMs;
  for (const call of [...state.calls.values()]) {
    if (call.cancelledAt !== undefined && now - call.cancelledAt >= limits.cancelledMs) {
      state.calls.delete(call.id);
      call.finish();
    } else if (limits.silenceMs > 0 && now - call.heardAt > silenceMs) {
      state.calls.delete(call.id);
      call.fail(SILENT);
      sendToServer(state, cancellation(call.id, 'time is over'));
    } else if (now - call.heardAt >= limits.keepAliveMs) {
      call.keepAlive(state.version >= PRIMED_SINCE);
    }
  }
  state.streams.tick(now);
  if (state.calls.size > 0 || state.streams.attached()) touch(state, now);
}

function end(state: SessionState, fault: BackendFault): void {
  if (state.over) return;
  state.over = true;
  for (const call of state.calls.values()) call.fail(fault);
  state.calls.clear();
  state.streams.end();
  const { link } = state;
  state.link = undefined;
  if (link !== undefined) state.parts.closing(link.close());
  state.parts.ended();
}
