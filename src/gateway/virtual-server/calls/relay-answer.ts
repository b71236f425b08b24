// Passes the answer of a member to the client of the virtual server: corrects ids on a stream, ends the stream if the
// member is silent, and reports an answer that ends without a response.

import type { Answer, BackendFault } from '../../backends/backend.ts';
import { ERRORS, errorBody } from '../../wire/errors.ts';
import type { MessageId } from '../../wire/message.ts';
import { createEventSplitter, type EventSplitter, formatEvent, type SseEvent } from '../../wire/sse.ts';
import type { AnswerHead } from '../health/outcomes.ts';
import { formatCallEvent } from './member-ids.ts';
import { showMessage } from './member-messages.ts';

export interface RelayedAnswer extends Answer {
  /** Notes that the client has answered a question of the member, so that the member's time limit starts again. */
  heard(): void;
}

export interface RelayParts {
  readonly member: string;
  /** Id of the answered request, for our own errors on its stream. */
  readonly id: MessageId | undefined;
  readonly answer: Answer;
  readonly timeoutMs: number;
  readonly messageBytes: number;
  readonly clock: { monotonic(): number; after(ms: number, task: () => void): () => void };
  /**
   * Handles a lost session at the member, before any part of the answer was passed on. Returns true if the request is
   * sent again in another session.
   */
  readonly lost: () => boolean;
  /** Notes a question of the member to the client. The client's answer will have this `id`. */
  readonly asked: (id: string) => void;
  readonly listChanged: () => void;
  /** Receives the reason why a message is not passed on. */
  readonly unreadable: (reason: string) => void;
  /** Notes that the member was silent for too long, so that its open requests can be ended. */
  readonly silent: () => void;
  /** Notes the end, once. `head` is the head of the member's HTTP answer, if one came. */
  readonly ended: (fault?: BackendFault, head?: AnswerHead) => void;
}

interface Relay {
  readonly parts: RelayParts;
  splitter: EventSplitter | undefined;
  over: boolean;
  head: AnswerHead | undefined;
  /** If set, passes on the head of an answer whose body has not begun. */
  passHead: (() => void) | undefined;
  /** Whether a response was on the stream. */
  answered: boolean;
  /** Number of the member's requests that the client has not answered. */
  waiting: number;
  /** Time of the member's last message, in monotonic milliseconds. */
  heardAt: number;
  flowing: boolean;
  /** Whether the client can reconnect for the rest of the stream. */
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
        // The answer to a request must have a body, so its head waits: an error can then replace a missing body.
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

/** Names the backend in a fault, since a virtual server has several backends. */
export function nameBackend(member: string, fault: BackendFault): BackendFault {
  return { ...fault, message: fault.message.replace(/^the MCP server\b/, `the backend ${member}`) };
}

/** Returns whether the response is missing. A stream that the client can resume may end before it. */
function lacksResponse({ parts, splitter, passHead, answered, resumable }: Relay): boolean {
  return splitter === undefined ? passHead !== undefined : parts.id !== undefined && !answered && !resumable;
}

/** Creates a fault that does not count against the health of the member, since it concerns one tool. */
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
  // A stream that the client can resume is closed intentionally.
  relay.parts.ended(relay.resumable && fault?.reason === 'closed' ? undefined : fault, relay.head);
  return true;
}

function failRelay(relay: Relay, fault: BackendFault): void {
  if (!finish(relay, fault)) return;
  const { answer, id } = relay.parts;
  // On a stream the client also gets the reason, unless it can reconnect for the answer.
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
    // The time that a person needs for an answer does not count.
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
