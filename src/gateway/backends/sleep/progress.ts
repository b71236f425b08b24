// Answers a call that waits for its server with progress notifications, and appends the answer of the server as an
// event.

import { ERRORS } from '../../wire/errors.ts';
import { isEventStream } from '../../wire/headers.ts';
import type { RequestMessage } from '../../wire/message.ts';
import type { Answer, Exchange } from '../backend.ts';
import { createReply, onOneLine } from '../bridge/reply.ts';
import type { BackendClock } from '../ports.ts';
import { errorMessage } from '../sessions/errors.ts';

/** Answer to a call whose client requested progress. */
export interface WaitingAnswer {
  /** Stops the progress notifications, and returns the answer for the server. */
  forServer(): Answer;
}

const FIRST_MS = 1000;
const EVERY_MS = 5000;

/**
 * Returns the message if its client requested progress and accepts a stream. The answer to `initialize` has the session
 * in its head, so its head cannot be sent before the server answers.
 */
export function progressRequest({ method, message, headers }: Exchange): RequestMessage | undefined {
  if (method !== 'POST' || message?.kind !== 'request' || message.method === 'initialize') return undefined;
  const asksForProgress = message.meta?.progressToken !== undefined && /text\/event-stream/i.test(headers.accept ?? '');
  return asksForProgress ? message : undefined;
}

/** Sends progress until the server answers. Calls are most often answered before the first notification. */
export function createWaitingAnswer(
  message: RequestMessage,
  answer: Answer,
  { clock, limitMs }: { readonly clock: BackendClock; readonly limitMs: number },
): WaitingAnswer {
  const reply = createReply(answer);
  const began = clock.monotonic();
  let hasBegun = false;
  let stopTimer = clock.after(FIRST_MS, report);

  function report(): void {
    hasBegun = true;
    const waited = clock.monotonic() - began;
    reply.event(progressOf(message, waited, limitMs));
    stopTimer = clock.after(EVERY_MS, report);
  }

  return {
    forServer() {
      stopTimer();
      return hasBegun ? asEvents(message, answer) : answer;
    },
  };
}

/**
 * Returns a notification with a progress below zero, which rises to -1 at the time limit. Progress must increase with
 * each notification (MCP 2025-11-25, Progress), and the server's own progress usually begins at zero or above.
 */
function progressOf({ meta }: RequestMessage, waitedMs: number, limitMs: number): Buffer {
  const token = meta?.progressToken?.json ?? 'null';
  const progress = Math.min(-1, Math.round((waitedMs - limitMs) / 1000));
  const words = JSON.stringify(`The MCP server was asleep and is starting (${Math.round(waitedMs / 1000)} s)`);
  return Buffer.from(
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":${progress},"message":${words}}}`,
  );
}

const EVENT_BEGIN = Buffer.from('event: message\ndata: ');
const EVENT_END = Buffer.from('\n\n');

/** Passes the server's answer on to a stream whose head was sent already. */
function asEvents({ id }: RequestMessage, answer: Answer): Answer {
  let form: 'events' | 'json' | 'refused' = 'refused';

  function refuse(code: number, words: string): void {
    answer.data(Buffer.concat([EVENT_BEGIN, errorMessage(id.json, code, words), EVENT_END]));
  }

  return {
    head(status, headers) {
      const isJson = String(headers['content-type'] ?? '').includes('json');
      form = isEventStream(headers['content-type']) ? 'events' : isJson ? 'json' : 'refused';
      if (form === 'json') answer.data(EVENT_BEGIN);
      if (form === 'refused') refuse(ERRORS.internalError, `the MCP server answered with status ${status}`);
    },
    data(chunk) {
      if (form === 'refused') return true;
      return answer.data(form === 'json' ? onOneLine(chunk) : chunk);
    },
    end() {
      if (form === 'json') answer.data(EVENT_END);
      answer.end();
    },
    fail(fault) {
      if (form !== 'refused') return answer.fail(fault);
      refuse(ERRORS.internalError, fault.message);
      answer.end();
    },
  };
}
