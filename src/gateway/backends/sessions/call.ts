// Answers one request of a client: with JSON if the response is the only message, otherwise with an event stream.

import { ERRORS } from '../../wire/errors.ts';
import type { Answer, BackendFault, Exchange } from '../backend.ts';
import { answerEmpty, answerJson, errorMessage } from './errors.ts';
import { EVENT_STREAM_HEADERS, type EventStream } from './event-stream.ts';

export interface CallParts {
  /** Id of the request, as JSON text. */
  readonly id: string;
  /** Progress token of the request, as JSON text. */
  readonly token: string | undefined;
  readonly accepts: Accepted;
  readonly answer: Answer;
  /** Current time in monotonic milliseconds. */
  readonly now: number;
  readonly openStream: () => EventStream;
  /** Returns headers of the answer, in addition to the content type. */
  readonly headers?: () => Record<string, string>;
}

export interface Call {
  readonly id: string;
  readonly token: string | undefined;
  /** Time of the server's last message about the call, in monotonic milliseconds. */
  heardAt: number;
  cancelledAt: number | undefined;
  /** Sends a message about the call. Returns false if this client cannot get the message. */
  deliver(message: Buffer): boolean;
  respond(message: Buffer): void;
  fail(fault: BackendFault): void;
  /** Ends the call without a response, because it was cancelled. */
  finish(): void;
  /** Starts the event stream if the answer has not begun. */
  keepAlive(prime: boolean): void;
  abort(): void;
  drained(): void;
  /** Returns true if the client is connected, so that a message is sent at once. */
  reaches(): boolean;
  stream(): EventStream | undefined;
}

export interface Accepted {
  readonly json: boolean;
  readonly stream: boolean;
}

/** Parses `accept` (RFC 9110 section 12.5.1). Ignores weights, which do not matter for JSON and event streams. */
export function acceptedTypes(exchange: Exchange): Accepted {
  const accept = exchange.headers.accept ?? '';
  const stream = accept.includes('text/event-stream');
  return { stream, json: !stream || accept.includes('application/json') || accept.includes('*/*') };
}

export function createCall(parts: CallParts): Call {
  const { id, answer, accepts } = parts;
  /** undefined once the client has disconnected or its answer has begun. */
  let waiting: Answer | undefined = answer;
  let stream: EventStream | undefined;

  function begin(): EventStream | undefined {
    if (stream !== undefined || waiting === undefined || !accepts.stream) return stream;
    const client = waiting;
    waiting = undefined;
    client.head(200, { ...EVENT_STREAM_HEADERS, ...parts.headers?.() });
    stream = parts.openStream();
    stream.attach(client, 0);
    return stream;
  }

  function answerPlainly(message: Buffer): void {
    const client = waiting;
    waiting = undefined;
    if (client !== undefined) answerJson(client, 200, message, parts.headers?.());
  }

  function respond(message: Buffer): void {
    if (stream === undefined && accepts.json) {
      answerPlainly(message);
      return;
    }
    const events = begin();
    events?.push(message);
    events?.end();
  }

  return {
    id,
    token: parts.token,
    heardAt: parts.now,
    cancelledAt: undefined,
    deliver(message) {
      const events = begin();
      events?.push(message);
      return events !== undefined;
    },
    respond,
    fail(fault) {
      const client = waiting;
      waiting = undefined;
      client?.fail(fault);
      stream?.push(errorMessage(id, ERRORS.internalError, fault.message));
      stream?.end();
    },
    finish() {
      begin()?.end();
      const client = waiting;
      waiting = undefined;
      if (client !== undefined) answerEmpty(client, 202);
    },
    keepAlive(prime) {
      if (stream !== undefined) return;
      const events = begin();
      if (prime) events?.prime();
      else events?.keepAlive();
    },
    abort() {
      waiting = undefined;
      stream?.detach(answer);
    },
    drained: () => stream?.drained(answer),
    reaches: () => (stream === undefined ? waiting !== undefined && accepts.stream : stream.attached()),
    stream: () => stream,
  };
}
