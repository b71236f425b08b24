// Serves the two paths of HTTP+SSE (MCP 2024-11-05): the event stream of a client, and the messages that clients post.

import type { Answer } from '../../backends/backend.ts';
import { isErrorStatus, rewriteAnswer } from '../../backends/rewrite-answer.ts';
import type { SessionSeal } from '../../wire/seal.ts';
import { formatComment, formatEvent } from '../../wire/sse.ts';
import type { Caller } from '../caller.ts';
import type { Entry, Known } from '../entry.ts';
import { type ExchangeWorld, prepareExchange } from '../exchange.ts';
import { faultCode, type Refusal, refusalBody, sessionUnknown } from '../faults.ts';
import type { Forwarded } from '../forwarded.ts';
import type { Incoming } from '../incoming.ts';
import { type LiveRules, listChanged, rewriteLive } from '../lists/live-stream.ts';
import { readNeeded } from '../lists/read-needed.ts';
import { type WatchedAnswer, watchAnswer } from '../outcome.ts';
import type { ProxyClock } from '../ports.ts';
import { countCall } from '../steps/count-call.ts';
import type { Ready } from '../streamable-front.ts';
import type { SseFront, SseSession } from './front.ts';

export const SSE_PATH = '/sse';
export const MESSAGES_PATH = '/messages';

export interface SseRoutes {
  readonly front: SseFront;
  /** Prefix of session ids: the name of this replica. */
  readonly replica: string;
  readonly rules: LiveRules;
  readonly messageBytes: number;
  readonly seal: SessionSeal;
  readonly clock: ProxyClock;
  readonly keepAliveMs: number;
  /** Calls `task` when the proxy stops. The returned function cancels the call. */
  readonly untilStopped: (task: () => void) => () => void;
  /** Path prefix of the URL for posted messages. If not empty, replaces X-Forwarded-Prefix. */
  readonly endpointPrefix: string;
}

const KEEP_ALIVE = formatComment('keep-alive');
const SESSION_BYTES = 16;
const ACCEPT = 'application/json, text/event-stream';

/** Opens the stream. The first event contains the URL for posted messages. */
export function openSseStream(routes: SseRoutes, entry: Entry, caller: Caller, forwarded: Forwarded): void {
  const { response } = entry;
  const { messageBytes } = routes;
  const id = `${routes.replica}.${routes.clock.random(SESSION_BYTES).toString('hex')}`;
  const sealed = routes.seal.seal({ id, issuedAt: routes.clock.now(), caller: caller.key }) ?? '';
  let bytes = 0;
  let waiting = false;

  function write(chunk: Buffer): boolean {
    bytes += chunk.length;
    if (response.write(chunk)) return true;
    if (!waiting) response.once('drain', resume);
    waiting = true;
    return false;
  }

  function resume(): void {
    waiting = false;
    session.resume();
  }

  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...entry.headers,
  });
  const session = routes.front.open(id, caller.key, {
    write,
    end: () => response.end(),
    change: (answer) =>
      rewriteAnswer(answer, { messageBytes, rewrite: rewriteLive(routes.rules, caller), kept: isErrorStatus }),
  });
  write(formatEvent({ data: Buffer.from(messagesUrl(routes, forwarded, sealed)), type: 'endpoint' }));
  const stopKeepAlive = routes.clock.every(routes.keepAliveMs, () => {
    if (response.writableLength === 0) response.write(KEEP_ALIVE);
  });
  const unsubscribe = routes.rules.onChange((lists) => {
    for (const list of lists) session.write(listChanged(list));
  });
  const stopped = routes.untilStopped(() => session.finish(() => response.end()));
  response.once('close', () => {
    stopped();
    unsubscribe();
    stopKeepAlive();
    session.close();
    entry.end({ caller, status: 200, outcome: 'success', reason: '', responseBytes: bytes });
  });
}

/**
 * Returns the URL for posted messages. Without trusted forwarding headers the URL is only a path, which clients resolve
 * against the URL of the stream.
 */
function messagesUrl({ endpointPrefix }: SseRoutes, { origin, prefix }: Forwarded, sealed: string): string {
  return `${origin ?? ''}${endpointPrefix || prefix}${MESSAGES_PATH}?session_id=${sealed}`;
}

/** Sends a posted message to the backend, which answers on the session's stream. */
export function postSseMessage(routes: SseRoutes, world: ExchangeWorld, entry: Entry, incoming: Incoming): void {
  const { caller } = incoming;
  const given = new URLSearchParams(incoming.path.split('?')[1] ?? '').get('session_id') ?? '';
  const id = routes.seal.open(given, caller.key)?.id;
  const session = id === undefined ? undefined : routes.front.find(id, caller.key);
  if (session === undefined) {
    entry.refuse(sessionUnknown(), { caller });
    return;
  }
  const posted: Incoming = { ...incoming, backendSession: { id: undefined }, sessionScope: id };
  const prepared = prepareExchange(world, posted);
  if (prepared.refusal !== undefined) {
    refuseMessage(entry, session, prepared.refusal, prepared.known);
    return;
  }
  if (prepared.needsList === undefined) {
    countMessage(world, entry, session, prepared);
    return;
  }
  const { known, needsList: needed } = prepared;
  const asking = { world, open: session.ask, incoming: posted, needed, clock: routes.clock };
  const giveUp = readNeeded(asking, (read) => {
    if (read.refusal !== undefined)
      return refuseMessage(entry, session, read.refusal, { ...known, detail: read.detail });
    const again = prepareExchange(world, { ...posted, listAsked: true, reading: read.reading });
    if (again.refusal !== undefined) refuseMessage(entry, session, again.refusal, again.known);
    else if (again.needsList === undefined) countMessage(world, entry, session, again);
  });
  entry.response.once('close', giveUp);
}

/**
 * Refuses a message. A refusal with an HTTP error status is the response to the POST. Any other refusal goes to the
 * stream, because clients ignore JSON-RPC errors in the response to the POST.
 */
function refuseMessage(entry: Entry, session: SseSession, refusal: Refusal, known: Known): void {
  if (refusal.status >= 400) {
    entry.refuse(refusal, known);
    return;
  }
  const id = known.message?.kind === 'request' ? known.message.id : undefined;
  const body = refusalBody(refusal, id);
  entry.response.writeHead(202, { 'content-type': 'text/plain; charset=utf-8', ...entry.headers }).end('Accepted');
  session.write(body);
  const { reason, code: rpcErrorCode } = refusal;
  entry.end({ ...known, status: 202, outcome: 'error', rpcErrorCode, reason, responseBytes: body.length });
}

function countMessage({ rateLimits }: ExchangeWorld, entry: Entry, session: SseSession, prepared: Ready): void {
  countCall(rateLimits, entry, prepared, {
    pass: (counted) => acceptMessage(entry, session, counted),
    refuse: (refusal, known) => refuseMessage(entry, session, refusal, known),
  });
}

function acceptMessage(entry: Entry, session: SseSession, prepared: Ready): void {
  const { known, change } = prepared;
  // Replaces the Accept header of the POST: the answer goes to the stream.
  const exchange = { ...prepared.exchange, headers: { ...prepared.exchange.headers, accept: ACCEPT } };
  entry.response.writeHead(202, { 'content-type': 'text/plain; charset=utf-8', ...entry.headers }).end('Accepted');
  session.post(exchange, (sink) => {
    const watched = endingEntry(entry, known, sink);
    return change === undefined ? watched : change(watched);
  });
}

/** Records the end of the request when its answer on the stream ends, often after the response to the POST. */
function endingEntry(entry: Entry, known: Known, sink: Answer): Answer {
  const watched: WatchedAnswer = watchAnswer(sink);
  return {
    head: watched.head,
    data: watched.data,
    end() {
      watched.end();
      const [outcome, rpcErrorCode] = [watched.outcome(), watched.rpcErrorCode()];
      entry.end({ ...known, status: 202, outcome, rpcErrorCode, reason: '', responseBytes: watched.bytes() });
    },
    fail(fault) {
      watched.fail(fault);
      entry.end({
        ...known,
        status: 202,
        outcome: 'error',
        reason: faultCode(fault),
        detail: fault.detail,
        responseBytes: watched.bytes(),
      });
    },
  };
}
