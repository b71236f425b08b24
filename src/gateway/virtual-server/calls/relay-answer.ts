// Passes a member's answer to the client. Renames ids on a stream, limits the silence of the member, and reports an
// answer that ends without a response.

import type { Answer, BackendFault } from '../../backends/backend.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { MessageId } from '../../wire/message.ts';
import { createEventSplitter, type EventSplitter, formatEvent, type SseEvent } from '../../wire/sse.ts';
import type { AnswerHead } from '../health/outcomes.ts';
import { formatCallEvent } from './member-ids.ts';
import { showMessage } from './member-messages.ts';

export interface RelayedAnswer extends Answer {
  /** Restarts the member's time limit, because the client has answered a request of the member. */
  heard(): void;
}

export interface RelayParts {
  readonly member: string;
  /** Id of the answered request, for error responses of the virtual server. */
  readonly id: MessageId | undefined;
  readonly answer: Answer;
  readonly timeoutMs: number;
  readonly messageBytes: number;
  readonly clock: { monotonic(): number; after(ms: number, task: () => void): () => void };
  /**
   * Handles a session that the member has lost, before any byte reaches the client. Returns true if the request is
   * repeated in a new session.
   */
  readonly lost: () => boolean;
  /** Notes a request of the member to the client. `id` is the id of the response that the client will send. */
  readonly asked: (id: string) => void;
  readonly listChanged: () => void;
  /** Receives the reason why a message of the member is dropped. */
  readonly unreadable: (reason: string) => void;
  /** Cancels the request, because the member was silent for longer than the time limit. */
  readonly silent: () => void;
  /** Notes the end of the answer. Called once. `head` is the head of the member's HTTP answer, if received. */
  readonly ended: (fault?: BackendFault, head?: AnswerHead) => void;
}

interface Relay {
  readonly parts: RelayParts;
  splitter: EventSplitter | undefined;
  over: boolean;
  head: AnswerHead | undefined;
  /** If set, sends the client the head of an answer whose body has not begun. */
  passHead: (() => void) | undefined;
  /** True once a response has passed on the stream. */
  answered: boolean;
  /** Number of requests of the member that the client has not answered. */
  waiting: number;
  /** Time of the member's last message, in monotonic milliseconds. */
  heardAt: number;
  flowing: boolean;
  /** True if events have ids, so that the client can resume the stream. */
  resumable: boolean;
  stopTimer: (() => void) | undefined;
}

export function relayAnswer(parts: RelayParts): RelayedAnswer {
  const { answer, member } = parts;
  const relay: Relay = {
    ...{
      parts,
      splitter: undefined,
      over: false,
      head: undefined,
      passHead: undefined,
      answered: false,
      waiting: 0,
      heardAt: 0,
      flowing: true,
      resumable: false,
      stopTimer: undefined,
    },
  };
  return {
    heard() {
      relay.waiting = Math.max(0, relay.waiting - 1);
      relay.heardAt = parts.clock.monotonic();
    },
    head(status, headers) {
      if (relay.over || isRepeated(relay, status === 404)) return;
      relay.head = { status, headers };
      const { 'mcp-session-id': _session, ...plain } = headers;
      if (!answersWithStream(headers['content-type'])) {
        const passHead = () => answer.head(status, plain);
        // An answer to a request must have a body. The head waits, so that an error can replace a missing body.
        if (parts.id !== undefined && status < 300) relay.passHead = passHead;
        else passHead();
        return;
      }
      beginStream(relay);
      const { 'content-length': _length, ...streamed } = plain;
      answer.head(status, streamed);
    },
    data(chunk) {
      if (relay.over) return true;
      if (relay.splitter === undefined) {
        relay.passHead?.();
        relay.passHead = undefined;
        return answer.data(chunk);
      }
      relay.flowing = true;
      relay.splitter.push(chunk);
      return relay.over || relay.flowing;
    },
    end() {
      relay.splitter?.end();
      if (lacksResponse(relay)) failRelay(relay, endedWithout(member));
      else if (finish(relay)) answer.end();
    },
    fail(fault) {
      if (relay.over || isRepeated(relay, fault.reason === 'session-unknown' && relay.splitter === undefined)) return;
      failRelay(relay, nameBackend(member, fault));
    },
  };
}

/** Puts the backend's name into the message of a fault. */
export function nameBackend(member: string, fault: BackendFault): BackendFault {
  return { ...fault, message: fault.message.replace(/^the MCP server\b/, `the backend ${member}`) };
}

/** Returns whether the response is missing. A resumable stream may end before the response. */
function lacksResponse({ parts, splitter, passHead, answered, resumable }: Relay): boolean {
  return splitter === undefined ? passHead !== undefined : parts.id !== undefined && !answered && !resumable;
}

/** Returns a fault that does not change the member's health, since the fault concerns one tool. */
function endedWithout(member: string): BackendFault {
  const message = `the backend ${member} closed the connection before its answer ended: the request may have been carried out`;
  return { reason: 'answer-invalid', message };
}

function isRepeated(relay: Relay, gone: boolean): boolean {
  relay.over = gone && relay.parts.lost();
  return relay.over;
}

function finish(relay: Relay, fault?: BackendFault): boolean {
  if (relay.over) return false;
  relay.over = true;
  relay.stopTimer?.();
  // A member may close a resumable stream at any time: this is not a fault.
  relay.parts.ended(relay.resumable && fault?.reason === 'closed' ? undefined : fault, relay.head);
  return true;
}

function failRelay(relay: Relay, fault: BackendFault): void {
  if (!finish(relay, fault)) return;
  const { answer, id } = relay.parts;
  // On a stream that the client cannot resume, the fault becomes an error response.
  if (relay.splitter === undefined || id === undefined || (relay.resumable && fault.reason === 'closed')) {
    answer.fail(fault);
    return;
  }
  answer.data(formatEvent({ type: 'message', data: errorBody(id, ERRORS.internalError, fault.message) }));
  answer.end();
}

function answersWithStream(type: string | readonly string[] | undefined): boolean {
  return typeof type === 'string' && /^\s*text\/event-stream\b/i.test(type);
}

function beginStream(relay: Relay): void {
  const { member, messageBytes, clock, timeoutMs } = relay.parts;
  const tooLarge: BackendFault = {
    reason: 'answer-too-large',
    message: `a message of the backend ${member} is too large`,
  };
  relay.heardAt = clock.monotonic();
  relay.splitter = createEventSplitter(
    { maxEventBytes: messageBytes },
    { event: (event) => takeEvent(relay, event), fault: () => failRelay(relay, tooLarge) },
  );
  watchSilence(relay, timeoutMs);
}

function watchSilence(relay: Relay, ms: number): void {
  const { clock, timeoutMs, member, silent } = relay.parts;
  relay.stopTimer = clock.after(ms, () => {
    const left = relay.heardAt + timeoutMs - clock.monotonic();
    // A member that waits for an answer of the client does not count as silent. A person may have to give this answer.
    if (left > 0 || relay.waiting > 0) {
      watchSilence(relay, Math.max(left, 1000));
      return;
    }
    silent();
    failRelay(relay, { reason: 'timeout', message: `the backend ${member} did not answer in time` });
  });
}

function takeEvent(relay: Relay, event: SseEvent): void {
  const { parts } = relay;
  relay.heardAt = parts.clock.monotonic();
  if (relay.over) return;
  relay.resumable ||= event.id !== undefined;
  const shown = showMessage(parts.member, event.data);
  switch (shown.kind) {
    case 'list-changed':
      parts.listChanged();
      return;
    case 'unreadable':
      parts.unreadable(shown.reason);
      return;
    case 'passes': {
      relay.answered ||= shown.answers === true;
      if (shown.asks !== undefined) {
        relay.waiting += 1;
        parts.asked(shown.asks);
      }
      relay.flowing = parts.answer.data(shownEvent(parts.member, event, shown.bytes)) && relay.flowing;
    }
  }
}

function shownEvent(member: string, event: SseEvent, data: Buffer): Buffer {
  if (event.id === undefined && data === event.data) return event.raw;
  const id = event.id === undefined ? undefined : formatCallEvent({ member, id: event.id });
  return formatEvent({ data, id, type: event.type, retry: event.retry });
}
