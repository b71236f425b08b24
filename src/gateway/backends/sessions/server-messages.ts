// Delivers each message of the server to a call or a stream of its session.

import { ERRORS } from '../../wire/errors.ts';
import type { Call } from './call.ts';
import type { Routed } from './link.ts';
import { isUnrelated, readRouted } from './routing.ts';
import { answerServer, type SessionState, sendToServer } from './session-state.ts';

export function receiveFromServer(state: SessionState, bytes: Buffer, known: Routed | undefined): void {
  const { observer } = state.parts;
  if (state.over) return;
  const routed = known ?? readRouted(bytes);
  if (typeof routed === 'string') {
    observer.dropped('unreadable');
    observer.log('debug', `the MCP server sent ${bytes.length} bytes that are not a message: ${routed}`);
  } else if (routed.kind === 'response') {
    respond(state, bytes, routed.id ?? '');
  } else if (routed.kind === 'request') {
    askClient(state, bytes, routed);
  } else {
    inform(state, bytes, routed);
  }
}

function respond(state: SessionState, bytes: Buffer, id: string): void {
  const call = state.calls.get(id);
  if (call === undefined) {
    state.parts.observer.dropped('response-unknown');
    return;
  }
  state.calls.delete(id);
  const see = state.watched.get(id);
  state.watched.delete(id);
  see?.(bytes);
  call.respond(bytes);
}

function askClient(state: SessionState, bytes: Buffer, { id = '', method = '', call }: Routed): void {
  const { calls, streams, asked, parts } = state;
  const reached = streams.hasListener() || [...calls.values()].some((call) => call.reaches());
  if (method === 'ping' && !reached) {
    sendToServer(state, Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}`));
  } else if (asked.size >= parts.limits.serverRequests) {
    answerServer(state, id, ERRORS.internalError, 'too many requests wait for the client');
  } else {
    asked.add(id);
    relate(state, bytes, id, call);
  }
}

function inform(state: SessionState, bytes: Buffer, { method = '', token, call }: Routed): void {
  if (isUnrelated(method)) state.streams.push(bytes, undefined);
  else if (token === undefined) relate(state, bytes, undefined, call);
  else deliverProgress(state, bytes, token);
}

function deliverProgress(state: SessionState, bytes: Buffer, token: string): void {
  const { clock, observer } = state.parts;
  for (const call of state.calls.values()) {
    if (call.token !== token) continue;
    call.heardAt = clock.monotonic();
    if (!call.deliver(bytes)) observer.dropped('client-gone');
    return;
  }
  observer.dropped('response-unknown');
}

/**
 * Delivers the message to call `of`, or to the last call in flight if `of` is undefined. If no such call exists,
 * delivers the message to a GET stream of the client.
 */
function relate(state: SessionState, bytes: Buffer, id: string | undefined, of: string | undefined): void {
  const call = of === undefined ? lastReached(state) : state.calls.get(of);
  // A disconnected client receives the message when it reconnects to the stream of its call.
  const kept = call?.reaches() === true || (call?.stream() !== undefined && !state.streams.hasListener());
  if (call === undefined || !kept) {
    state.streams.push(bytes, id);
    return;
  }
  call.heardAt = state.parts.clock.monotonic();
  call.deliver(bytes);
}

function lastReached({ calls }: SessionState): Call | undefined {
  let last: Call | undefined;
  for (const call of calls.values()) if (call.reaches()) last = call;
  return last;
}
