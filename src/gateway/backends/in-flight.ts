// Refuses a request if another one with the same id is in flight in its session (MCP 2025-11-25, Base Protocol, Requests).
// Servers find the stream of an answer by its id, so the answer to one request would be sent as the answer to the other.

import type { Answer, Exchange, Flow } from './backend.ts';
import { refuseExchange } from './sessions/errors.ts';

type Open = (exchange: Exchange, answer: Answer) => Flow;

/**
 * Wraps `open`. A request without a session has a stream of its own and no other request to be mistaken for; clients of one
 * identity count their ids independently of each other.
 */
export function refuseRepeatedIds(open: Open): Open {
  const inFlight = new Set<string>();
  return (exchange, answer) => {
    const { session, message } = exchange;
    if (session === undefined || message?.kind !== 'request') return open(exchange, answer);
    const { json } = message.id;
    const key = `${session}\n${json}`;
    if (inFlight.has(key)) return refuseExchange(answer, 400, json, 'a request with this id is in flight');
    inFlight.add(key);
    let held = true;

    /** Another request may have the id by the time of a second call. */
    function release(): void {
      if (held) inFlight.delete(key);
      held = false;
    }

    const flow = open(exchange, releaseAfter(answer, release));
    return {
      abort() {
        flow.abort();
        release();
      },
      resume: flow.resume,
    };
  };
}

function releaseAfter(answer: Answer, release: () => void): Answer {
  return {
    head: answer.head,
    data: answer.data,
    end() {
      release();
      answer.end();
    },
    fail(fault) {
      release();
      answer.fail(fault);
    },
  };
}
