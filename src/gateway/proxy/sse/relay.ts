// Serves HTTP+SSE (MCP 2024-11-05) with several replicas: a replica relays a posted message to the replica with the
// client's stream.

import type { Answer, Exchange, Flow } from '../../backends/backend.ts';
import { exchangeIn, requestOf } from '../../backends/relay/backend.ts';
import type { RelayRequest } from '../../backends/relay/ports.ts';
import type { Relay } from '../../backends/relay/relay.ts';
import { type ClientStream, messageEvent, writeToStream } from './client-stream.ts';
import type { SseFront, SseSession } from './front.ts';

const POST = 'sse-post';
const WRITE = 'sse-write';
const NO_FLOW: Flow = { abort: () => undefined, resume: () => undefined };
const UNHEARD: Answer = { head: () => undefined, data: () => true, end: () => undefined, fail: () => undefined };

/**
 * Wraps a front. A session id begins with the name of the stream's replica, followed by a dot. `find` returns a session
 * of another replica without checking that the session exists.
 */
export function relaySseFront(front: SseFront, relay: Relay, messageBytes: number): SseFront {
  relay.serve(POST, (request, answer) => takePost(front, request, answer));
  relay.serve(WRITE, (request, answer) => takeWrite(front, request, answer));
  return {
    open: front.open,
    close: front.close,
    find(id, caller) {
      const [owner = ''] = id.split('.', 1);
      if (owner === relay.replica) return front.find(id, caller);
      return remoteSession(relay, owner, id, caller, messageBytes);
    },
  };
}

/**
 * Handles a message that another replica received. The answers return to that replica, which applies the rules to them.
 */
function takePost(front: SseFront, request: RelayRequest, answer: Answer): Flow {
  const exchange = exchangeIn(request);
  const session = exchange?.session === undefined ? undefined : front.find(exchange.session, exchange.caller);
  if (exchange === undefined || session === undefined) {
    answer.fail({ reason: 'session-unknown', message: 'Session not found' });
    return NO_FLOW;
  }
  session.post({ ...exchange, session: undefined }, () => answer);
  return { abort: () => undefined, resume: session.resume };
}

/** Writes events of another replica to the stream. */
function takeWrite(front: SseFront, { head: { id, caller }, body }: RelayRequest, answer: Answer): Flow {
  const known = typeof id === 'string' && typeof caller === 'string';
  if (known) front.find(id, caller)?.writeEvents(body);
  answer.end();
  return NO_FLOW;
}

function remoteSession(relay: Relay, owner: string, id: string, caller: string, messageBytes: number): SseSession {
  const stream: ClientStream = {
    write(chunk) {
      relay.call(owner, WRITE, { head: { id, caller }, body: chunk }, UNHEARD);
      return true;
    },
    end: () => undefined,
    change: (answer) => answer,
  };

  function call(exchange: Exchange, answer: Answer): Flow {
    return relay.call(owner, POST, requestOf({ ...exchange, session: id }), answer);
  }

  return {
    id,
    caller,
    post(exchange, change) {
      const requestId = exchange.message?.kind === 'request' ? exchange.message.id : undefined;
      void call(exchange, change(writeToStream(stream, messageBytes, requestId)));
    },
    write: (message) => void stream.write(messageEvent(message)),
    writeEvents: (events) => void stream.write(events),
    ask: call,
    resume: () => undefined,
    finish: (done) => done(),
    close: () => undefined,
  };
}
