// Reads the message stream of a client's session at one member, and reopens the stream whenever it ends.

import type { Exchange, Flow } from '../../backends/backend.ts';
import { createEventSplitter, type SseEvent } from '../../wire/sse.ts';
import { exchangeFor, type Member } from '../members/member.ts';
import { headersIn } from '../sessions/open-member.ts';
import type { MemberSession } from '../sessions/session.ts';
import type { World } from '../world.ts';

export interface MemberStreamParts {
  readonly world: World;
  readonly member: Member;
  readonly at: MemberSession;
  /** The client's GET. */
  readonly exchange: Exchange;
  /** Event id after which the member resumes the stream. undefined for a new stream. */
  readonly after: string | undefined;
  /** Receives an event. Returns false if the client reads too slowly. */
  readonly event: (event: SseEvent) => boolean;
  /** Called if the member offers no stream, or no longer knows the session. */
  readonly over: () => void;
}

const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;
/**
 * Statuses of a member that offers no stream or does not know the session (MCP 2025-11-25, Transports). Other error
 * statuses are temporary.
 */
const FINAL: ReadonlySet<number> = new Set([404, 405]);

export function openMemberStream(parts: MemberStreamParts): Flow {
  const { world, member, at, exchange } = parts;
  let flow: Flow | undefined;
  let stopTimer: (() => void) | undefined;
  let closed = false;
  let after = parts.after;
  let retryMs = RETRY_MIN_MS;

  function again(): void {
    if (closed) return;
    stopTimer = world.clock.after(retryMs, open);
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  }

  function end(): void {
    closed = true;
    flow?.abort();
    parts.over();
  }

  function open(): void {
    let flowing = true;
    let over = false;

    function leave(then: () => void): void {
      if (over) return;
      over = true;
      opened?.abort();
      then();
    }

    const splitter = createEventSplitter(
      { maxEventBytes: world.messageBytes },
      {
        event(event) {
          retryMs = event.retry ?? RETRY_MIN_MS;
          after = event.id ?? after;
          if (!closed) flowing = parts.event(event) && flowing;
        },
        fault: () => leave(again),
      },
    );
    const { 'content-type': _type, 'content-length': _length, 'last-event-id': _last, ...kept } = exchange.headers;
    const headers = {
      ...kept,
      ...headersIn(at),
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': after }),
    };
    let opened: Flow | undefined;
    opened = member.backend.open(exchangeFor(member, exchange, { method: 'GET', headers, session: at.id }), {
      head(status) {
        if (status >= 400) leave(FINAL.has(status) ? end : again);
      },
      data(chunk) {
        if (over) return true;
        flowing = true;
        splitter.push(chunk);
        return flowing;
      },
      end: () => leave(again),
      fail: ({ reason }) => leave(reason === 'session-unknown' || reason === 'not-supported' ? end : again),
    });
    flow = opened;
    if (closed || over) opened.abort();
  }

  open();
  return {
    abort() {
      closed = true;
      stopTimer?.();
      flow?.abort();
    },
    resume: () => flow?.resume(),
  };
}
