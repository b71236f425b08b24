// Sends one exchange of streamable HTTP to the backend, and streams the answer to the client.

import type { OutgoingHttpHeaders } from 'node:http';
import type { Answer, Backend, BackendFault, Exchange, Flow } from '../backends/backend.ts';
import { HEADERS, isEventStream, responseHeadersToForward } from '../wire/headers.ts';
import type { SessionSeal } from '../wire/seal.ts';
import { type ClientAnswer, createClientAnswer, type HeaderValues } from './client-answer.ts';
import { type ClientInfo, sealedInfo } from './client-info.ts';
import type { Ended, Entry, Known } from './entry.ts';
import type { Prepared } from './exchange.ts';
import { faultCode } from './faults.ts';
import { type WatchedAnswer, watchAnswer } from './outcome.ts';
import type { ProxyClock } from './ports.ts';

export interface StreamableWorld {
  readonly backend: Backend;
  readonly seal: SessionSeal;
  readonly clock: Pick<ProxyClock, 'now' | 'every' | 'atTurnEnd'>;
  readonly keepAliveMs: number;
  /** Reports whether the server was available for a request. */
  readonly observed: (available: boolean) => void;
  /**
   * Maximum size of a stored response. Responses are stored until their request is recorded. If absent, no responses
   * are stored.
   */
  readonly keptAnswerBytes?: () => number;
  /** True if the proxy replaces a 401 of the server. False if clients authenticate to the server directly. */
  readonly hidesChallenges: boolean;
  /** Calls `task` when the proxy stops. The returned function cancels the call. */
  readonly untilStopped: (task: () => void) => () => void;
}

/** An exchange that the rules permit. */
export type Ready = Extract<Prepared, { readonly exchange: Exchange }>;

export function streamExchange(world: StreamableWorld, entry: Entry, prepared: Ready): void {
  const { exchange, known } = prepared;
  const { response } = entry;
  let watched: WatchedAnswer | undefined;
  let flow: Flow | undefined;
  const client: ClientAnswer = createClientAnswer({
    response,
    headers: entry.headers,
    id: exchange.message?.kind === 'request' ? exchange.message.id : undefined,
    shownHeaders: (headers) => shownHeaders(world, entry, exchange, known.client, headers),
    keepAliveMs: world.keepAliveMs,
    clock: world.clock,
    ended(fault) {
      // The proxy does not read the remaining bytes of a failed answer.
      if (fault !== undefined) flow?.abort();
      if (fault === undefined) world.observed(true);
      else if (UNAVAILABLE.includes(fault.reason)) world.observed(false);
      entry.end(endOf(known, response.statusCode, watched, fault));
    },
  });
  watched = watchAnswer(client, world.keptAnswerBytes?.());
  const answer = world.hidesChallenges ? refuseChallenges(watched) : watched;
  const live = prepared.live?.(answer);
  const opened = world.backend.open(exchange, live?.answer ?? prepared.change?.(answer) ?? answer);
  flow = opened;
  if (client.finished()) {
    live?.close();
    opened.abort();
    return;
  }
  client.feed(opened);
  const stopped = live === undefined ? undefined : world.untilStopped(client.end);
  response.once('close', () => {
    stopped?.();
    live?.close();
    if (response.writableFinished) return;
    opened.abort();
    client.abandon();
  });
}

const UNAVAILABLE: readonly BackendFault['reason'][] = ['unreachable', 'timeout'];

function endOf(
  known: Known,
  status: number,
  watched: WatchedAnswer | undefined,
  fault: BackendFault | undefined,
): Ended {
  const denied = status === 401 || status === 403;
  return {
    ...known,
    status,
    outcome: fault !== undefined ? 'error' : denied ? 'denied' : (watched?.outcome() ?? 'unknown'),
    reason: fault !== undefined ? faultCode(fault) : status >= 400 ? 'server-error' : '',
    rpcErrorCode: watched?.rpcErrorCode(),
    detail: fault === undefined ? known.detail : fault.detail,
    responseBytes: watched?.bytes() ?? 0,
    answer: watched?.message(),
  };
}

/**
 * Replaces a 401 of the server with a fault. The server refused the proxy's credentials, so its challenge would send
 * callers through the login endlessly.
 */
function refuseChallenges(answer: Answer): Answer {
  let refused = false;
  return {
    head(status, headers) {
      refused = status === 401;
      if (refused) answer.fail({ reason: 'answer-invalid', message: 'the MCP server refuses the token of the proxy' });
      else answer.head(status, headers);
    },
    data: (chunk) => refused || answer.data(chunk),
    end() {
      if (!refused) answer.end();
    },
    fail(fault) {
      if (!refused) answer.fail(fault);
    },
  };
}

/** Returns the headers for the client. Replaces the server's session id with the sealed id. */
function shownHeaders(
  { seal, clock, hidesChallenges }: StreamableWorld,
  { request }: Entry,
  { caller, message }: Exchange,
  client: ClientInfo | undefined,
  headers: HeaderValues,
): OutgoingHttpHeaders {
  const shown = responseHeadersToForward(headers) as OutgoingHttpHeaders;
  const length = headers['content-length'];
  // The proxy adds comments to streams, which changes their length.
  if (typeof length === 'string' && !isEventStream(headers['content-type'])) shown['content-length'] = length;
  // A 403 may also contain a challenge (RFC 6750 section 3.1), and only the proxy may send challenges. `delete` is slow
  // even for an absent property.
  if (hidesChallenges && shown['www-authenticate'] !== undefined) delete shown['www-authenticate'];
  const session = headers[HEADERS.sessionId];
  const data = client === undefined ? undefined : sealedInfo(client);
  const begins = message?.kind === 'request' && message.method === 'initialize';
  if (typeof session !== 'string') return shown;
  const given = begins ? undefined : request.headers[HEADERS.sessionId];
  const kept = typeof given === 'string' ? given : seal.seal({ id: session, issuedAt: clock.now(), caller, data });
  if (kept === undefined) delete shown[HEADERS.sessionId];
  else shown[HEADERS.sessionId] = kept;
  return shown;
}
