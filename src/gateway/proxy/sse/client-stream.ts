// Writes answers to one client's stream of HTTP+SSE (MCP 2024-11-05): each JSON-RPC message becomes one event.

import type { Answer, BackendFault } from '../../backends/backend.ts';
import { errorBody } from '../../wire/errors.ts';
import { isEventStream, isJson } from '../../wire/headers.ts';
import type { MessageId } from '../../wire/message.ts';
import { createEventSplitter, formatEvent } from '../../wire/sse.ts';
import { faultRefusal } from '../faults.ts';

export interface ClientStream {
  /** Writes a chunk. Returns false if the source must pause until the stream's `drain` event. */
  write(chunk: Buffer): boolean;
  /** Ends the stream. `reason` is not sent to the client. */
  end(reason: string): void;
  /** Wraps an answer with the rules for messages that the server sends without a request. */
  change(answer: Answer): Answer;
}

/**
 * Returns an answer that writes each message of a JSON body or event stream as one event. A fault becomes an error
 * response to `id`.
 */
export function writeToStream(stream: ClientStream, messageBytes: number, id: MessageId | undefined): Answer {
  let reader: Reader | undefined;

  function fail(fault: BackendFault): void {
    if (id === undefined) return;
    const { code, message } = faultRefusal(fault);
    stream.write(messageEvent(errorBody(id, code, message)));
  }

  function tooLarge(): void {
    fail({ reason: 'answer-too-large', message: 'the answer of the MCP server is too large' });
  }

  return {
    head(status, headers) {
      const type = headers['content-type'];
      if (type === undefined) return;
      if (isEventStream(type)) reader = eventReader(stream, messageBytes, tooLarge);
      else if (isJson(type)) reader = wholeReader(stream, messageBytes, tooLarge);
      else if (status >= 400)
        fail({ reason: 'answer-invalid', message: `the MCP server answered with status ${status}` });
    },
    data: (chunk) => reader?.push(chunk) ?? true,
    end: () => reader?.end(),
    fail,
  };
}

interface Reader {
  push(chunk: Buffer): boolean;
  end(): void;
}

function eventReader(stream: ClientStream, maxEventBytes: number, tooLarge: () => void): Reader {
  let flowing = true;
  const splitter = createEventSplitter(
    { maxEventBytes },
    {
      event({ data }) {
        if (data.length > 0) flowing = stream.write(messageEvent(data)) && flowing;
      },
      fault: tooLarge,
    },
  );
  return {
    push(chunk) {
      flowing = true;
      splitter.push(chunk);
      return flowing;
    },
    end: splitter.end,
  };
}

function wholeReader(stream: ClientStream, messageBytes: number, tooLarge: () => void): Reader {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size <= messageBytes) chunks.push(chunk);
      return true;
    },
    end() {
      if (size > messageBytes) tooLarge();
      else if (size > 0) stream.write(messageEvent(Buffer.concat(chunks, size)));
    },
  };
}

export function messageEvent(data: Buffer): Buffer {
  return formatEvent({ data, type: 'message' });
}
