// Prevents two requests with the same id in one session at the same time (MCP 2025-11-25, Base Protocol, Requests). A
// server finds the stream of a response by the request id, so equal ids could swap the responses.

import { answerThen } from './answer-then.ts';
import type { Answer, Exchange, Flow } from './backend.ts';
import { createLaterFlow } from './bridge/context.ts';
import type { BackendClock } from './ports.ts';
import { refuseExchange } from './sessions/errors.ts';

type Open = (exchange: Exchange, answer: Answer) => Flow;

/**
 * Time for which a second request waits. A client that reconnects can send the request again before its old connection
 * ends.
 */
const WAIT_MS = 1000;

/** Request that currently uses an id. `next` starts the waiting request. */
interface Holder {
  next?: () => void;
}

/**
 * Wraps `open`. A second request with the same id waits up to a second for the end of the first request, and is refused
 * with 400 after this time. A third request is refused at once. Requests without a session may share ids, because each
 * of them has a separate stream.
 */
export function refuseRepeatedIds(clock: Pick<BackendClock, 'after'>, open: Open): Open {
  const holders = new Map<string, Holder>();

  function begin(key: string, exchange: Exchange, answer: Answer): Flow {
    const holder: Holder = {};
    holders.set(key, holder);
    let held = true;

    /** Releases the id once only, because another request may use the id afterwards. */
    function release(): void {
      if (!held) return;
      held = false;
      holders.delete(key);
      holder.next?.();
    }

    const flow = open(exchange, answerThen(answer, release));
    return {
      abort() {
        flow.abort();
        release();
      },
      resume: flow.resume,
    };
  }

  function wait(holder: Holder, start: () => Flow, refuse: () => void): Flow {
    const flow = createLaterFlow();
    const stop = clock.after(WAIT_MS, () => {
      leave();
      refuse();
    });

    function next(): void {
      stop();
      flow.begin(start());
    }

    function leave(): void {
      if (holder.next === next) holder.next = undefined;
    }

    holder.next = next;
    return {
      abort() {
        stop();
        leave();
        flow.abort();
      },
      resume: flow.resume,
    };
  }

  return (exchange, answer) => {
    const { session, message } = exchange;
    if (session === undefined || message?.kind !== 'request') return open(exchange, answer);
    const { json } = message.id;
    const key = `${session}\n${json}`;
    const holder = holders.get(key);
    if (holder === undefined) return begin(key, exchange, answer);
    const refuse = () => refuseExchange(answer, 400, json, 'a request with this id is in flight in this session');
    return holder.next === undefined ? wait(holder, () => begin(key, exchange, answer), refuse) : refuse();
  };
}
