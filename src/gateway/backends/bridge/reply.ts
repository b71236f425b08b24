// Builds the answer to a client's request: one JSON message, or a stream of events that ends with the response.

import type { Answer, BackendFault } from '../backend.ts';

export interface Reply {
  /** Starts a stream, unless the answer has already begun. */
  stream(): void;
  /** Sends one message on the stream. Returns false if the client reads slowly: the sender must wait for `resume`. */
  event(message: Buffer): boolean;
  /**
   * Sends the last message: on the stream if the stream has begun, otherwise as JSON with this status. Accepts pieces,
   * because copying a large cached part for each client would cost more than all other work.
   */
  finish(message: Buffer | readonly Buffer[], status?: number, headers?: Readonly<Record<string, string>>): void;
  /** Sends a status without a message. If the stream has begun, ends the stream. */
  end(status: number): void;
  fail(fault: BackendFault): void;
  /** Stops sending, because the client has disconnected. */
  drop(): void;
  closed(): boolean;
}

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const EVENT_BEGIN = Buffer.from('event: message\ndata: ');
const EVENT_END = Buffer.from('\n\n');
const NEWLINE = 0x0a;
const RETURN = 0x0d;

export function createReply(answer: Answer): Reply {
  let streaming = false;
  let closed = false;

  function stream(): void {
    if (streaming || closed) return;
    streaming = true;
    answer.head(200, STREAM_HEADERS);
  }

  function event(message: Buffer): boolean {
    if (closed) return true;
    stream();
    return answer.data(Buffer.concat([EVENT_BEGIN, onOneLine(message), EVENT_END]));
  }

  function close(): boolean {
    if (closed) return false;
    closed = true;
    return true;
  }

  return {
    stream,
    event,
    finish(message, status = 200, headers = {}) {
      const pieces = Buffer.isBuffer(message) ? [message] : message;
      if (streaming) event(Buffer.concat(pieces));
      if (!close()) return;
      if (!streaming) {
        const length = String(pieces.reduce((sum, piece) => sum + piece.length, 0));
        answer.head(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
        for (const piece of pieces) answer.data(piece);
      }
      answer.end();
    },
    end(status) {
      if (!close()) return;
      if (!streaming) answer.head(status, { 'content-length': '0' });
      answer.end();
    },
    fail(fault) {
      if (close()) answer.fail(fault);
    },
    drop: close,
    closed: () => closed,
  };
}

/** Replaces line breaks by spaces. JSON has raw line breaks between tokens only. */
export function onOneLine(message: Buffer): Buffer {
  if (message.indexOf(NEWLINE) < 0 && message.indexOf(RETURN) < 0) return message;
  const copy = Buffer.from(message);
  for (let place = 0; place < copy.length; place += 1) {
    if (copy[place] === NEWLINE || copy[place] === RETURN) copy[place] = 0x20;
  }
  return copy;
}
