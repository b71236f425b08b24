// The answer to one request of a client: one JSON body where nothing else belongs to it, an event stream as soon as
// something does.

import { ERRORS } from '../../wire/errors.ts';
import type { Answer, BackendFault, Exchange } from '../backend.ts';
import { answerEmpty, answerJson, errorMessage } from './errors.ts';
import { EVENT_STREAM_HEADERS, type EventStream } from './event-stream.ts';

export interface CallParts {
  /** JSON text of the request's id. */
  readonly id: string;
  /** JSON text of its progress token. */
  readonly token: string | undefined;
  readonly accepts: Accepted;
  readonly answer: Answer;
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly openStream: () => EventStream;
  /** What the head of the answer says beyond the type of its content. */
  readonly headers?: () => Record<string, string>;
}

export interface Call {
  readonly id: string;
  readonly token: string | undefined;
  /** When the server was last heard about it: monotonic milliseconds. */
  heardAt: number;
  cancelledAt: number | undefined;
  /** A message that belongs to it; false where it cannot go to this client. */
  deliver(message: Buffer): boolean;
  respond(message: Buffer): void;
  fail(fault: BackendFault): void;
  /** Ends it without a response: it was cancelled. */
  finish(): void;
  /** Opens the event stream where it is still undecided. */
  keepAlive(prime: boolean): void;
  abort(): void;
  drained(): void;
  /** True where a message delivered now is on its way to the client. */
  reaches(): boolean;
  stream(): EventStream | undefined;
}

export interface Accepted {
  readonly json: boolean;
  readonly stream: boolean;
}

/** RFC 9110 section 12.5.1, as far as these two types go: weights are of no account. */
export function acceptedTypes(exchange: Exchange): Accepted {
  const accept = exchange.headers.accept ?? '';
  const stream = accept.includes('text/event-stream');
  return { stream, json: !stream || accept.includes('application/json') || accept.includes('*/*') };
}

export function createCall(parts: CallParts): Call {
  const { id, answer, accepts } = parts;
  /** Undefined once the client has gone, or has its answer. */
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
