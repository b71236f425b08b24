// What one member says on the stream of a client's session there, opened again whenever it ends. Knows nothing about other
// members and how events reach the client.

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
  /** The GET of the client. */
  readonly exchange: Exchange;
  /** From which event on; undefined: what comes. */
  readonly after: string | undefined;
  /** False: the client is slow. */
  readonly event: (event: SseEvent) => boolean;
  /** The member has no such stream, or its session is gone. */
  readonly over: () => void;
}

const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 30_000;

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
    const splitter = createEventSplitter(
      { maxEventBytes: world.messageBytes },
      {
        event(event) {
          retryMs = event.retry ?? RETRY_MIN_MS;
          after = event.id ?? after;
          if (!closed) flowing = parts.event(event) && flowing;
        },
        fault: () => again(),
      },
    );
    const { 'content-type': _type, 'content-length': _length, 'last-event-id': _last, ...kept } = exchange.headers;
    const headers = {
      ...kept,
      ...headersIn(at),
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': after }),
    };
    let refused = false;
    flow = member.backend.open(exchangeFor(member, exchange, { method: 'GET', headers, session: at.id }), {
      head(status) {
        // 405: it has no stream, for good (2025-11-25, Transports, Listening for Messages from the Server).
        refused = status >= 400;
        if (refused) end();
      },
      data(chunk) {
        if (refused) return true;
        flowing = true;
        splitter.push(chunk);
        return flowing;
      },
      end() {
        if (!refused) again();
      },
      fail({ reason }) {
        if (reason === 'session-unknown' || reason === 'not-supported') end();
        else again();
      },
    });
    if (closed) flow.abort();
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
