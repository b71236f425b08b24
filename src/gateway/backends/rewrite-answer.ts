// Reads and changes the messages of an answer before the client gets them, for example to filter lists for the caller.
// Never passes on a body that it cannot read.

import { isEventStream, isJson } from '../wire/headers.ts';
import { watchData } from '../wire/large/data-watch.ts';
import type { TextWatch } from '../wire/large/text-watch.ts';
import { createEventSplitter, type EventHandlers, formatEvent, type SseEvent } from '../wire/sse.ts';
import type { Answer, BackendFault } from './backend.ts';

type HeaderValues = Parameters<Answer['head']>[1];

/** Returns the message for the client. If the result is empty, the stream omits the message. */
export interface RewriteMessage {
  (message: Buffer): Buffer;
  /** Returns true if the message may pass unchanged. Called with the first piece, and again with all pieces. */
  readonly passes?: (pieces: readonly Buffer[]) => boolean;
}

export interface ListAnswerOptions {
  /** Maximum size of a message. Larger messages pass in pieces if `watch` is set, and are refused otherwise. */
  readonly messageBytes: number;
  /** Creates a watch for the pieces of one larger message. */
  readonly watch?: () => TextWatch;
  readonly rewrite: RewriteMessage;
  /**
   * Returns true for statuses that the client gets even if the body is neither JSON nor events. The client then gets no
   * body. An answer with another status and such a body is refused.
   */
  readonly kept: (status: number) => boolean;
}

/** Maximum number of buffered bytes of an answer that need not be read as a whole. Longer answers pass in pieces. */
const HELD_BYTES_MAX = 1024 * 1024;

/**
 * Returns a function that lets a message pass if it has one piece and `isAffected` returns false. Messages of several
 * pieces are buffered, because a key may be split between two pieces.
 */
export function passesInOnePiece(isAffected: (bytes: Buffer) => boolean): NonNullable<RewriteMessage['passes']> {
  return ([piece, ...others]) => piece !== undefined && others.length === 0 && !isAffected(piece);
}

/** Accepts every piece of an answer that needs no filter. */
export const WATCH_NOTHING: TextWatch = { push: () => true };

/** Accepts no more bytes, because the answer has already passed as a whole. */
const PASS_NO_MORE: TextWatch = { push: ({ length }) => length === 0 };

/** Returns options that buffer at most HELD_BYTES_MAX bytes. Longer answers pass in pieces. */
export function heldShortly(
  messageBytes: number,
  watch: () => TextWatch,
): Pick<ListAnswerOptions, 'messageBytes' | 'watch'> {
  return { messageBytes: Math.min(messageBytes, HELD_BYTES_MAX), watch };
}

/** Returns true for error statuses. A client can use an error status even without its body. */
export function isErrorStatus(status: number): boolean {
  return status >= 400;
}

/**
 * Returns the `kept` option. For lists, the option accepts 401, which requests a login, and 404 in a session, which
 * reports that the session is lost. For other requests, the option accepts all error statuses.
 */
export function keptStatus(isList: boolean, isInSession: boolean): (status: number) => boolean {
  return isList ? (status) => status === 401 || (status === 404 && isInSession) : isErrorStatus;
}

export function rewriteAnswer(answer: Answer, options: ListAnswerOptions): Answer {
  let part: Pick<Answer, 'data' | 'end'> = answer;
  let failed = false;

  function fail(fault: BackendFault): void {
    failed = true;
    answer.fail(fault);
  }

  return {
    head(status, headers) {
      if (headers['content-encoding'] !== undefined) return fail(unreadable('it is compressed'));
      if (isEventStream(headers['content-type'])) part = eventPart(answer, status, headers, options, fail);
      else if (isJson(headers['content-type'])) part = jsonPart(answer, status, headers, options, fail);
      else part = emptyPart(answer, status, headers, options, fail);
    },
    data: (chunk) => failed || part.data(chunk),
    end() {
      if (!failed) part.end();
    },
    fail(fault) {
      if (!failed) fail(fault);
    },
  };
}

function jsonPart(
  answer: Answer,
  status: number,
  headers: HeaderValues,
  { messageBytes, watch, rewrite }: ListAnswerOptions,
  fail: (fault: BackendFault) => void,
): Pick<Answer, 'data' | 'end'> {
  const chunks: Buffer[] = [];
  let size = 0;
  let watched: TextWatch | undefined;
  const declared = Number(headers['content-length']);

  function pass(piece: Buffer, isFirst: boolean): boolean {
    if (watched?.push(piece) !== true) {
      fail(tooLarge());
      return true;
    }
    if (isFirst) answer.head(status, headers);
    return answer.data(piece);
  }

  return {
    data(chunk) {
      if (watched !== undefined) return pass(chunk, false);
      // Most answers have one piece, which passes without a copy. Bytes after the declared length are refused.
      if (size === 0 && chunk.length === declared && declared <= messageBytes && rewrite.passes?.([chunk]) === true) {
        watched = PASS_NO_MORE;
        answer.head(status, headers);
        return answer.data(chunk);
      }
      size += chunk.length;
      chunks.push(chunk);
      if (size <= messageBytes) return true;
      watched = watch?.();
      return pass(Buffer.concat(chunks.splice(0), size), true);
    },
    end() {
      if (watched !== undefined) return answer.end();
      if (size === 0) {
        answer.head(status, headers);
        return answer.end();
      }
      if (rewrite.passes?.(chunks) === true) {
        answer.head(status, { ...headers, 'content-length': String(size) });
        for (const chunk of chunks) answer.data(chunk);
        return answer.end();
      }
      const message = rewrite(Buffer.concat(chunks, size));
      answer.head(status, { ...headers, 'content-length': String(message.length) });
      answer.data(message);
      answer.end();
    },
  };
}

/**
 * Handles an answer that is neither JSON nor events. Sends the head at the end, because the answer may have to be
 * refused if it has a body.
 */
function emptyPart(
  answer: Answer,
  status: number,
  headers: HeaderValues,
  { kept }: ListAnswerOptions,
  fail: (fault: BackendFault) => void,
): Pick<Answer, 'data' | 'end'> {
  let hadBody = false;
  return {
    data(chunk) {
      hadBody ||= chunk.length > 0;
      if (hadBody && !kept(status)) fail(unreadable('it is neither JSON nor an event stream'));
      return true;
    },
    end() {
      const { 'content-length': _length, 'content-type': _type, ...rest } = headers;
      answer.head(status, hadBody ? { ...rest, 'content-length': '0' } : headers);
      answer.end();
    },
  };
}

function eventPart(
  answer: Answer,
  status: number,
  headers: HeaderValues,
  { messageBytes, watch, rewrite }: ListAnswerOptions,
  fail: (fault: BackendFault) => void,
): Pick<Answer, 'data' | 'end'> {
  const { 'content-length': _length, ...rest } = headers;
  answer.head(status, rest);
  let flowing = true;

  function passLarge(watch: () => TextWatch): NonNullable<EventHandlers['large']> {
    let watched: TextWatch | undefined;
    return (raw, isLast) => {
      watched ??= watchData(watch());
      if (watched.push(raw)) flowing = answer.data(raw) && flowing;
      else {
        splitter.end();
        fail(tooLarge());
      }
      if (isLast) watched = undefined;
    };
  }

  const splitter = createEventSplitter(
    { maxEventBytes: messageBytes },
    {
      ...(watch === undefined ? {} : { large: passLarge(watch) }),
      event(event: SseEvent) {
        flowing = answer.data(rewriteEvent(event, rewrite)) && flowing;
      },
      // Clients need `retry` of the event. A comment shows that the server is alive.
      silent(raw) {
        flowing = answer.data(raw) && flowing;
      },
      fault: () => fail(tooLarge()),
    },
  );
  return {
    data(chunk) {
      flowing = true;
      splitter.push(chunk);
      return flowing;
    },
    end() {
      splitter.end();
      answer.end();
    },
  };
}

/**
 * Rewrites an event. Events without data only carry an id. MCP defines one event type, but some clients also read other
 * types.
 */
function rewriteEvent(event: SseEvent, rewrite: RewriteMessage): Buffer {
  const { data, id, type, retry } = event;
  if (data.length === 0 || rewrite.passes?.([data]) === true) return event.raw;
  const changed = rewrite(data);
  if (changed.length === 0) return changed;
  return changed === data ? event.raw : formatEvent({ data: changed, id, type, retry });
}

function unreadable(why: string): BackendFault {
  return { reason: 'answer-invalid', message: `the answer of the MCP server cannot be filtered: ${why}` };
}

function tooLarge(): BackendFault {
  return { reason: 'answer-too-large', message: 'the answer of the MCP server is too large to be filtered' };
}
