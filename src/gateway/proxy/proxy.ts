// One MCP server behind the gate: each request is led to what answers it, calls through every step of the gate.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Backend } from '../backends/backend.ts';
import type { Credential } from '../credentials/credential.ts';
import type { ServeIssuer } from '../issuer/mount.ts';
import type { Message } from '../wire/message.ts';
import type { SessionSeal } from '../wire/seal.ts';
import { readBody } from './body.ts';
import type { Caller } from './caller.ts';
import { type Callers, type FoundCaller, findCaller } from './callers.ts';
import { type ClientHeaders, callerWithHeaders, keepClientHeaders } from './client-headers.ts';
import type { Doorway, Place } from './doorway.ts';
import { createEntry, type Ended, type Entry, givenRequestId } from './entry.ts';
import { type ExchangeWorld, type Incoming, prepareExchange } from './exchange.ts';
import { CLIENT_CLOSED, INTERNAL, type Refusal, TOO_LARGE } from './faults.ts';
import { type Forwarded, readForwarded } from './forwarded.ts';
import type { Health } from './health.ts';
import { refuseBrokenBy } from './listener.ts';
import { learnHints } from './lists/learn-hints.ts';
import type { LiveRules } from './lists/live-stream.ts';
import { answerPlain, type PlainAnswers, plainRoutes } from './plain-answers.ts';
import type { BeginSpan, CallSpan, ProxyClock, TraceContext } from './ports.ts';
import type { RecordedCall } from './records/recording.ts';
import { routeRefusal } from './routes.ts';
import type { ServiceLimits, ServiceTimes } from './settings.ts';
import { MESSAGES_PATH, openSseStream, postSseMessage, SSE_PATH, type SseRoutes } from './sse/routes.ts';
import { type Ready, streamExchange } from './streamable-front.ts';
import { traceParent } from './trace-parent.ts';

export interface ProxyParts {
  readonly backend: Backend;
  readonly doorway: Doorway;
  /** Undefined: callers are not authenticated. */
  readonly callers: Callers | undefined;
  /** If set, other headers of clients do not go on. */
  readonly clientHeaders?: ClientHeaders;
  readonly enter: (kind: 'call' | 'stream', caller: string) => Place | { readonly refusal: Refusal };
  readonly rules: LiveRules;
  readonly seal: SessionSeal;
  readonly credential: Credential;
  readonly plain: PlainAnswers;
  /** The authorization server below the same origin; undefined where there is none. */
  readonly serveIssuer: ServeIssuer | undefined;
  readonly health: Health;
  readonly limits: Pick<ServiceLimits, 'requestBytes' | 'messageBytes'>;
  readonly times: Pick<ServiceTimes, 'keepAliveMs'>;
  readonly trustForwarded: boolean;
  /** Undefined: every path is the server's own. */
  readonly endpoint: string;
  /** Undefined: the transport of 2024-11-05 is not served. */
  readonly sse: SseRoutes | undefined;
  readonly clock: ProxyClock;
  readonly newRequestId: () => string;
  readonly beginSpan?: BeginSpan;
  /** Once for each request that has ended. */
  readonly record: (recorded: RecordedCall) => void;
  /** Responses up to this are kept until their request is recorded. Absent: none. */
  readonly keptAnswerBytes?: () => number;
  readonly active: (change: 1 | -1, kind: 'request' | 'stream') => void;
  /** Calls back where the proxy is stopped before what it gives is called: streams end then. */
  readonly untilStopped: (task: () => void) => () => void;
}

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

export function createHandle(parts: ProxyParts): Handle {
  const plain = plainRoutes(parts.plain);
  return function handle(request, response) {
    const path = pathOf(request.url ?? '/', parts.endpoint);
    if (parts.doorway.refuseRebinding(request) === undefined) {
      if (answerPlain(plain, path, request.method, response)) return;
      if (parts.serveIssuer?.(path, request, response) === true) return;
    }
    const call = beginCall(parts, request, response, path);
    refuseBrokenBy((error) => refuseBroken(call, error));
    guarded(call, () => serveRequest(parts, call));
  };
}

/** A mistake of ours ends the one request that shows it, and the log says where it is. */
function refuseBroken({ entry }: Call, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  entry.refuse(INTERNAL, { detail });
}

/** For what is called back later, when nobody is there to catch it. */
function guarded(call: Call, step: () => void): void {
  try {
    step();
  } catch (error) {
    refuseBroken(call, error);
  }
}

/** The target without its query. The endpoint with a slash at its end is the endpoint: clients and gateways add one. */
function pathOf(url: string, endpoint: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return path === `${endpoint}/` ? endpoint : path;
}

/** One request on its way: its frame, who asks through what, and its span once that has begun. */
interface Call {
  readonly entry: Entry;
  readonly path: string;
  readonly forwarded: Forwarded;
  /** Begins the span, as a part of what the message or else the headers say. */
  readonly trace: (message: Message | undefined) => TraceContext;
}

function beginCall(parts: ProxyParts, request: IncomingMessage, response: ServerResponse, path: string): Call {
  const { clock } = parts;
  const began = clock.monotonic();
  const beganAtMs = clock.now();
  const requestId = givenRequestId(request.headers['x-request-id']) ?? parts.newRequestId();
  const forwarded = readForwarded(request, parts.trustForwarded);
  let span: CallSpan | undefined;
  parts.active(1, 'request');

  function ended(how: Ended): void {
    parts.active(-1, 'request');
    const seconds = (clock.monotonic() - began) / 1000;
    // Refused before it was clear what it is.
    span ??= parts.beginSpan?.(traceParent(request, how.message), beganAtMs);
    parts.record({ request, requestId, path, seconds, span, ended: how, forwarded });
  }

  const headers = { ...parts.doorway.headers(request), 'x-request-id': requestId };
  return {
    entry: createEntry({ request, response, requestId, headers, ended }),
    path,
    forwarded,
    trace(message) {
      const parent = traceParent(request, message);
      if (parts.beginSpan === undefined) return parent;
      span ??= parts.beginSpan(parent, beganAtMs);
      return span.context;
    },
  };
}

function serveRequest(parts: ProxyParts, call: Call): void {
  const { endpoint, sse } = parts;
  const { entry, path } = call;
  const { request, response } = entry;
  const preflight = request.method === 'OPTIONS' ? parts.doorway.preflight(request) : undefined;
  if (preflight !== undefined) {
    response.writeHead(204, { ...entry.headers, ...preflight }).end();
    entry.end({ status: 204, outcome: 'success', reason: '', responseBytes: 0 });
    return;
  }
  const refusal = parts.doorway.refuse(request) ?? routeRefusal({ endpoint, sse: sse !== undefined }, request, path);
  const found = refusal === undefined ? findCaller(parts.callers, request) : { refusal };
  if (!(found instanceof Promise)) serveCaller(parts, call, found);
  else found.then((caller) => serveCaller(parts, call, caller)).catch((error: unknown) => refuseBroken(call, error));
}

function serveCaller(parts: ProxyParts, call: Call, caller: FoundCaller): void {
  const { entry } = call;
  const { request, response } = entry;
  if ('refusal' in caller) {
    entry.refuse(caller.refusal);
    return;
  }
  const kind = request.method === 'GET' ? 'stream' : 'call';
  // Its end was there before anybody listened to it, so nothing may be begun that waits for it.
  const place = response.closed ? { refusal: CLIENT_CLOSED } : parts.enter(kind, caller.key);
  if ('refusal' in place) {
    entry.refuse(place.refusal, { caller });
    return;
  }
  if (kind === 'stream') parts.active(1, 'stream');
  response.once('close', () => {
    place.leave();
    if (kind === 'stream') parts.active(-1, 'stream');
  });
  const { clientHeaders: named } = parts;
  readRequest(parts, call, named === undefined ? caller : callerWithHeaders(caller, request.headers, named));
}

function readRequest(parts: ProxyParts, call: Call, caller: Caller): void {
  const { entry, path } = call;
  if (parts.sse !== undefined && path === SSE_PATH) openSseStream(parts.sse, entry, caller, call.forwarded);
  else if (entry.request.method !== 'POST') forward(parts, call, caller, undefined);
  else {
    readBody(entry.request, parts.limits.requestBytes, (body) => {
      if (body.ok) guarded(call, () => forward(parts, call, caller, body.bytes));
      else entry.refuse(body.reason === 'too-large' ? TOO_LARGE : CLIENT_CLOSED, { caller });
    });
  }
}

function incomingOf({ clientHeaders: named }: ProxyParts, call: Call, caller: Caller, body?: Buffer): Incoming {
  const { method, url = '/', headers } = call.entry.request;
  return {
    method: method === 'GET' || method === 'DELETE' ? method : 'POST',
    path: url,
    headers: named === undefined ? headers : keepClientHeaders(headers, named),
    body,
    caller,
    trace: call.trace,
    forwarded: call.forwarded.headers,
  };
}

function forward(parts: ProxyParts, call: Call, caller: Caller, body: Buffer | undefined): void {
  const { entry } = call;
  const world: ExchangeWorld = {
    seal: parts.seal,
    rules: parts.rules.current(),
    live: parts.rules,
    credential: parts.credential,
    messageBytes: parts.limits.messageBytes,
  };
  const incoming = incomingOf(parts, call, caller, body);
  if (parts.sse !== undefined && call.path === MESSAGES_PATH) {
    postSseMessage(parts.sse, world, entry, incoming);
    return;
  }
  const prepared = prepareExchange(world, incoming);
  if (prepared.refusal !== undefined) {
    entry.refuse(prepared.refusal, prepared.known);
    return;
  }
  if (prepared.needsList === undefined) {
    sendExchange(parts, entry, prepared);
    return;
  }
  const { known, needsList: needed } = prepared;
  const asking = { world, open: parts.backend.open, incoming, needed, clock: parts.clock };
  const giveUp = learnHints(asking, (failure) =>
    guarded(call, () => {
      if (failure !== undefined) return entry.refuse(failure.refusal, { ...known, detail: failure.detail });
      const again = prepareExchange(world, { ...incoming, listAsked: true });
      if (again.refusal !== undefined) return entry.refuse(again.refusal, again.known);
      if (again.needsList === undefined) sendExchange(parts, entry, again);
    }),
  );
  entry.response.once('close', giveUp);
}

function sendExchange(parts: ProxyParts, entry: Entry, prepared: Ready): void {
  const { backend, seal, clock, keptAnswerBytes, callers, untilStopped } = parts;
  const { keepAliveMs, observed } = { ...parts.times, ...parts.health };
  const hidesChallenges = callers !== undefined;
  const world = { backend, seal, clock, keepAliveMs, observed, keptAnswerBytes, hidesChallenges, untilStopped };
  streamExchange(world, entry, prepared);
}
