// Reads the outcome of a call from its answer: success, a JSON-RPC error, or a failed tool. All bytes pass unchanged.

import { isObject } from '#std/json.ts';
import type { Answer } from '../backends/backend.ts';
import { isEventStream } from '../wire/headers.ts';
import { readValue, scanMessage } from '../wire/scan.ts';
import { createEventSplitter } from '../wire/sse.ts';

/** `unknown`: no response came, or the response was unreadable or too large. */
export type Outcome = 'success' | 'error' | 'tool-error' | 'unknown';

/** Answers and events beyond this size are not read. */
const READ_BYTES_MAX = 64 * 1024;

export interface WatchedAnswer extends Answer {
  /** Returns the outcome. Valid once the answer has ended. */
  outcome(): Outcome;
  status(): number;
  /** Returns the code of the JSON-RPC error, if the answer was readable. */
  rpcErrorCode(): number | undefined;
  /** Returns the number of body bytes. */
  bytes(): number;
  /** Returns the JSON-RPC response, if its size is at most `keptBytes`. */
  message(): Buffer | undefined;
}

/** Wraps `answer` and reads the outcome while bytes pass. `keptBytes` is the maximum size of the stored response. */
export function watchAnswer(answer: Answer, keptBytes = 0): WatchedAnswer {
  let found: Read = { outcome: 'unknown' };
  let status = 0;
  let bytes = 0;
  let kept: Buffer | undefined;
  let look: (chunk: Buffer) => void = () => undefined;
  let finish: () => void = () => undefined;

  function learn(message: Buffer): void {
    const read = outcomeOf(message);
    if (read === undefined) return;
    found = read;
    // Copied, because the next event may reuse the buffer.
    if (message.length <= keptBytes) kept = Buffer.from(message);
  }

  return {
    head(given, headers) {
      status = given;
      if (isEventStream(headers['content-type'])) {
        const handlers = { event: ({ data }: { readonly data: Buffer }) => learn(data), fault: () => undefined };
        const splitter = createEventSplitter({ maxEventBytes: READ_BYTES_MAX }, handlers);
        look = splitter.push;
        finish = splitter.end;
      } else {
        const whole = collect(learn);
        look = whole.push;
        finish = whole.end;
      }
      answer.head(given, headers);
    },
    data(chunk) {
      bytes += chunk.length;
      look(chunk);
      return answer.data(chunk);
    },
    end() {
      finish();
      answer.end();
    },
    fail: (fault) => answer.fail(fault),
    outcome: () => found.outcome,
    rpcErrorCode: () => found.rpcErrorCode,
    status: () => status,
    bytes: () => bytes,
    message: () => kept,
  };
}

/** Collects the body up to the size limit. A body of one chunk, the usual case, is not copied. */
function collect(done: (whole: Buffer) => void): { push(chunk: Buffer): void; end(): void } {
  let first: Buffer | undefined;
  let more: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size > READ_BYTES_MAX) more = [];
      else if (first === undefined) first = chunk;
      else more.push(chunk);
    },
    end() {
      if (first === undefined || size > READ_BYTES_MAX) return;
      done(more.length === 0 ? first : Buffer.concat([first, ...more]));
    },
  };
}

interface Read {
  readonly outcome: Outcome;
  readonly rpcErrorCode?: number;
}

const SUCCESS: Read = { outcome: 'success' };

/** Common end of `"error"` and `"isError"`. */
const ERROR_KEY_END = Buffer.from('rror"');
const NO_TOOL_ERROR = Buffer.from('"isError":false');
const RESULT_KEY = Buffer.from('"result"');

/**
 * Returns true if the message has a result, no `error`, and a single `isError`, which is false: the usual answer of a
 * tool.
 */
function isPlainSuccess(message: Buffer, at: number): boolean {
  const start = at - '"isE'.length;
  const plain =
    start >= 0 && message.compare(NO_TOOL_ERROR, 0, NO_TOOL_ERROR.length, start, start + NO_TOOL_ERROR.length) === 0;
  return plain && message.lastIndexOf(ERROR_KEY_END) === at && message.includes(RESULT_KEY);
}

/** Returns undefined if the message is not a response. Parses a message only if it may contain an error. */
function outcomeOf(message: Buffer): Read | undefined {
  const at = message.indexOf(ERROR_KEY_END);
  if (at < 0) return message.includes(RESULT_KEY) ? SUCCESS : undefined;
  if (isPlainSuccess(message, at)) return SUCCESS;
  const scanned = scanMessage(message);
  if (!scanned.ok) return { outcome: 'unknown' };
  if (scanned.message.kind !== 'response') return undefined;
  const { error, result } = scanned.message;
  if (error !== undefined || result === undefined) {
    const fault = error === undefined ? undefined : readValue(message, error);
    const code = isObject(fault) ? fault.code : undefined;
    return { outcome: 'error', rpcErrorCode: typeof code === 'number' ? code : undefined };
  }
  const value = readValue(message, result);
  return isObject(value) && value.isError === true ? { outcome: 'tool-error' } : SUCCESS;
}
