// Serves clients with sessions on a server of MCP 2026-07-28. The session id contains the session, so no store is
// needed. The bridge itself answers the handshake and the methods that MCP 2026-07-28 removed. All other messages go to
// the server.

import { isObject } from '#std/json.ts';
import { ERRORS, errorBody } from '../../../wire/errors.ts';
import { HEADERS } from '../../../wire/headers.ts';
import type { Message, NotificationMessage, RequestMessage, ResponseMessage } from '../../../wire/message.ts';
import { eraOfRevision, LATEST_SESSION_REVISION } from '../../../wire/revisions.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../../backend.ts';
import { type BridgeContext, createLaterFlow, NO_FLOW, uniqueText } from '../context.ts';
import { objectOf, resultMessage } from '../messages.ts';
import { LOG_LEVELS, serverCapabilities, statelessClientCapabilities } from '../protocol.ts';
import { createReply, type Reply } from '../reply.ts';
import { refuseSubscription } from '../subscription-room.ts';
import { createToolSchemas } from '../tool-schemas.ts';
import { openCall } from './call.ts';
import type { SessionClientContext } from './context.ts';
import { createDiscovery, type Discovered } from './discovery.ts';
import { type ClientIdentity, formatSessionId } from './identity.ts';
import { openListener } from './listen.ts';
import { metaObject } from './request.ts';
import { type ClientState, createClientStates } from './states.ts';

export interface SessionClients {
  open(exchange: Exchange, answer: Answer): Flow;
  /** Ends all streams without waiting for calls in flight. */
  close(): void;
}

export function serveSessionClients(bridge: BridgeContext): SessionClients {
  const context: SessionClientContext = {
    ...bridge,
    states: createClientStates(bridge.limits.clientSessions),
    schemas: createToolSchemas(),
    discovery: createDiscovery(bridge),
  };
  return {
    open: (exchange, answer) => openExchange(context, exchange, answer),
    close() {
      for (const { listener } of context.states.all()) listener?.end();
    },
  };
}

const UNKNOWN: BackendFault = { reason: 'session-unknown', message: 'the session is not known, or has ended' };

function openExchange(context: SessionClientContext, exchange: Exchange, answer: Answer): Flow {
  const { session, method, body, message } = exchange;
  if (method === 'POST' && message?.kind === 'request' && message.method === 'initialize' && body !== undefined) {
    return initialize(context, exchange, body, message, answer);
  }
  if (session === undefined) {
    const fault = errorBody(idOf(message), ERRORS.badRequest, 'Bad Request: Mcp-Session-Id is missing');
    createReply(answer).finish(fault, 400);
    return NO_FLOW;
  }
  const state = context.states.find(session);
  if (state === undefined) {
    answer.fail(UNKNOWN);
    return NO_FLOW;
  }
  if (method === 'GET') return openClientStream(context, state, exchange, answer);
  if (method === 'DELETE') {
    context.states.end(session);
    createReply(answer).end(204);
    return NO_FLOW;
  }
  if (body === undefined || message === undefined) {
    createReply(answer).end(400);
    return NO_FLOW;
  }
  return post(context, state, exchange, body, message, answer);
}

function idOf(message: Message | undefined): RequestMessage['id'] | undefined {
  return message?.kind === 'request' ? message.id : undefined;
}

function post(
  context: SessionClientContext,
  state: ClientState,
  exchange: Exchange,
  body: Buffer,
  message: Message,
  answer: Answer,
): Flow {
  switch (message.kind) {
    case 'notification':
      takeNotification(state, message);
      createReply(answer).end(202);
      return NO_FLOW;
    case 'response':
      takeResponse(state, body, message, createReply(answer));
      return NO_FLOW;
    case 'request': {
      const local = LOCAL[message.method];
      if (local === undefined) return openCall(context, state, exchange, body, message, answer);
      local(state, createReply(answer), body, message);
      return NO_FLOW;
    }
  }
}

/**
 * Handles a cancellation by closing the stream of the request, because MCP 2026-07-28 has no client notifications over
 * HTTP.
 */
function takeNotification(state: ClientState, { method, refersTo }: NotificationMessage): void {
  if (method === 'notifications/cancelled' && refersTo !== undefined) state.calls.get(refersTo.json)?.();
}

function takeResponse(state: ClientState, body: Buffer, response: ResponseMessage, reply: Reply): void {
  const question = response.id === undefined ? undefined : state.questions.get(response.id.json);
  if (question === undefined) {
    const text = 'Bad Request: no request with this id waits for a response here';
    reply.finish(errorBody(undefined, ERRORS.badRequest, text), 400);
    return;
  }
  reply.end(202);
  question(body, response);
}

type LocalMethod = (state: ClientState, reply: Reply, body: Buffer, request: RequestMessage) => void;

/** Methods that MCP 2026-07-28 removed and that the bridge answers without the server. */
const LOCAL: Readonly<Record<string, LocalMethod | undefined>> = {
  ping: (_state, reply, _body, { id }) => reply.finish(resultMessage(id.json, '{}')),
  'logging/setLevel'(state, reply, body, { id, params }) {
    const { level } = objectOf(body, params);
    if (typeof level !== 'string' || !LOG_LEVELS.includes(level)) {
      return reply.finish(errorBody(id, ERRORS.invalidParams, `Invalid params: no log level ${JSON.stringify(level)}`));
    }
    state.logLevel = level;
    reply.finish(resultMessage(id.json, '{}'));
  },
  'resources/subscribe': (state, reply, _body, request) => subscribe(state, reply, request, true),
  'resources/unsubscribe': (state, reply, _body, request) => subscribe(state, reply, request, false),
};

function subscribe({ subscriptions, listener }: ClientState, reply: Reply, request: RequestMessage, on: boolean): void {
  const { id, target } = request;
  if (target === undefined) {
    reply.finish(errorBody(id, ERRORS.invalidParams, 'Invalid params: uri is missing'));
    return;
  }
  const refusal = on ? refuseSubscription(subscriptions, target.value, id) : undefined;
  if (refusal !== undefined) {
    reply.finish(refusal);
    return;
  }
  const before = subscriptions.size;
  if (on) subscriptions.add(target.value);
  else subscriptions.delete(target.value);
  const answer = () => reply.finish(resultMessage(id.json, '{}'));
  if (subscriptions.size === before || listener === undefined) answer();
  // The client must get every change after the answer, so the answer waits for the renewal.
  else listener.renew().then(answer);
}

function initialize(
  context: SessionClientContext,
  exchange: Exchange,
  body: Buffer,
  { id, params, requestedVersion }: RequestMessage,
  answer: Answer,
): Flow {
  const flow = createLaterFlow();
  const { capabilities, clientInfo } = objectOf(body, params);
  const known = requestedVersion !== undefined && eraOfRevision(requestedVersion) === 'session';
  const identity: ClientIdentity = {
    revision: known ? requestedVersion : LATEST_SESSION_REVISION,
    capabilities: isObject(capabilities) ? statelessClientCapabilities(capabilities) : {},
    clientInfo: isObject(clientInfo) ? clientInfo : undefined,
    nonce: uniqueText(context),
  };
  context.discovery.find(exchange, metaObject(identity)).then((discovered) => {
    if (flow.aborted()) return;
    const reply = createReply(answer);
    if (!discovered.ok) return answerFailure(context, reply, discovered);
    const headers = { [HEADERS.sessionId]: formatSessionId(identity) };
    reply.finish(resultMessage(id.json, initializeResult(identity, discovered)), 200, headers);
  });
  return flow;
}

function answerFailure(
  { doubtEra }: BridgeContext,
  reply: Reply,
  { fault, status }: Discovered & { readonly ok: false },
): void {
  if (status === 401 || status === 403 || status === 429) {
    reply.end(status);
    return;
  }
  if (status !== undefined) doubtEra();
  reply.fail(fault);
}

function initializeResult({ revision }: ClientIdentity, { facts }: Discovered & { readonly ok: true }): string {
  const { capabilities, instructions, serverInfo } = facts;
  return JSON.stringify({
    protocolVersion: revision,
    capabilities: serverCapabilities(capabilities),
    // serverInfo is required in MCP 2025-11-25 and optional in MCP 2026-07-28.
    serverInfo: serverInfo ?? { name: 'mcp-server', version: 'unknown' },
    instructions,
  });
}

function openClientStream(context: SessionClientContext, state: ClientState, exchange: Exchange, answer: Answer): Flow {
  const flow = createLaterFlow();
  context.discovery.find(exchange, metaObject(state.identity)).then((discovered) => {
    if (flow.aborted()) return;
    if (!discovered.ok) return answerFailure(context, createReply(answer), discovered);
    flow.begin(openListener(context, state, exchange, discovered.facts.capabilities, answer));
  });
  return flow;
}
