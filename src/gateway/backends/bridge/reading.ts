// Reads a backend's answer message by message, from one JSON message or from an event stream.

import type { Message } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import { createEventSplitter, type EventSplitter } from '../../wire/sse.ts';
import type { Answer, BackendFault } from '../backend.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface AnswerReader {
  /** Receives the status. If `streamed` is true, events follow. */
  head(status: number, headers: Headers, streamed: boolean): void;
  message(bytes: Buffer, message: Message): void;
  /** Receives the id of the last event, for `Last-Event-ID`, and the reconnection time in milliseconds. */
  position?(id: string | undefined, retry: number | undefined): void;
  /**
   * Handles the end of a chunk, after its messages. Returns false if the reader must stop until the flow
   * calls `resume`.
   */
  part(): boolean;
  /** Handles the end of the answer, which may have contained no message. */
  end(): void;
  /** Handles a failure, in place of `end`. The caller should abort the flow. */
  fail(fault: BackendFault): void;
}

/**
 * Returns a receiver for the answer. Fails for messages longer than `maxBytes`. Ignores a body that is neither JSON nor
 * an event stream.
 */
export function readAnswer(reader: AnswerReader, maxBytes: number): Answer {
  let splitter: EventSplitter | undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  let json = false;
  let done = false;

  function fail(fault: BackendFault): void {
    if (done) return;
    done = true;
    chunks = [];
    reader.fail(fault);
  }

  function read(bytes: Buffer): void {
    if (done) return;
    const scanned = scanMessage(bytes);
    if (scanned.ok) reader.message(bytes, scanned.message);
    else fail({ ...UNREADABLE, detail: scanned.fault.message });
  }

  return {
    head(status, headers) {
      const type = contentType(headers);
      json = type === 'application/json';
      const streamed = status === 200 && type === 'text/event-stream';
      reader.head(status, headers, streamed);
      if (!streamed) return;
      splitter = createEventSplitter(
        { maxEventBytes: maxBytes },
        {
          event({ data, type: name, id, retry }) {
            if (id !== undefined || retry !== undefined) reader.position?.(id, retry);
            if (data.length > 0 && (name === undefined || name === 'message')) read(data);
          },
          fault: () => fail(TOO_LARGE),
        },
      );
    },
    data(chunk) {
      if (done) return true;
      if (splitter !== undefined) {
        splitter.push(chunk);
        return done || reader.part();
      }
      size += chunk.length;
      if (json && size > maxBytes) fail(TOO_LARGE);
      else if (json) chunks.push(chunk);
      return true;
    },
    end() {
      if (json && size > 0) read(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      if (done) return;
      if (json && size > 0) reader.part();
      splitter?.end();
      done = true;
      reader.end();
    },
    fail,
  };
}

const UNREADABLE: BackendFault = {
  reason: 'answer-invalid',
  message: 'the MCP server sent a response that is not a JSON-RPC message',
};

const TOO_LARGE: BackendFault = { reason: 'answer-too-large', message: 'a message of the MCP server is too large' };

function contentType(headers: Headers): string {
  const value = headers['content-type'];
  const text = typeof value === 'string' ? value : (value?.[0] ?? '');
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase();
}
