// Serves clients of MCP 2026-07-28 on a server with sessions.

import { isObject, type JsonObject } from '#std/json.ts';
import { ERRORS, errorBody } from '../../../wire/errors.ts';
import type { RequestMessage } from '../../../wire/message.ts';
import { SUPPORTED_REVISIONS } from '../../../wire/revisions.ts';
import type { Answer, Exchange, Flow } from '../../backend.ts';
import { type BridgeContext, type LaterFlow, NO_FLOW } from '../context.ts';
import { objectOf, resultMessage } from '../messages.ts';
import {
  LOG_LEVELS,
  META_CAPABILITIES,
  META_SERVER,
  SESSION_METHODS,
  type ServerFacts,
  serverCapabilities,
} from '../protocol.ts';
import { createReply } from '../reply.ts';
import { createToolSchemas } from '../tool-schemas.ts';
import type { BackendSession } from './backend-session.ts';
import { logLevelOf } from './call-answer.ts';
import { resumeCall } from './call-questions.ts';
import type { Attempt, Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';
import { listenInSession } from './listen.ts';
import { createParking } from './parked.ts';
import { createSessionPool } from './pool.ts';
import { requestDigest } from './request.ts';
import { inSession, startCall } from './start.ts';

export interface StatelessClients {
  open(exchange: Exchange, answer: Answer): Flow;
  /** Ends subscriptions with a response (as MCP 2026-07-28 requires), and ends the sessions at the server. */
  close(): Promise<void>;
}

export function serveStatelessClients(bridge: BridgeContext): StatelessClients {
  const context: StatelessClientContext = {
    ...bridge,
    pool: createSessionPool(bridge),
    parking: createParking<Call>(bridge),
    schemas: createToolSchemas(),
  };
  return {
    open: (exchange, answer) => openExchange(context, exchange, answer),
    close: () => context.pool.close(),
  };
}

function openExchange(context: StatelessClientContext, exchange: Exchange, answer: Answer): Flow {
  const { method, body, message } = exchange;
  const reply = createReply(answer);
  if (method !== 'POST' || body === undefined || message === undefined) {
    reply.end(method === 'POST' ? 400 : 405);
    return NO_FLOW;
  }
  if (message.kind !== 'request') {
    reply.end(202);
    return NO_FLOW;
  }
  const meta = objectOf(body, message.meta?.span);
  const refusal = findRefusal(message, meta);
  if (refusal !== undefined) {
    reply.finish(refusal.bytes, refusal.status);
    return NO_FLOW;
  }
  if (!context.schemas.match(message, body, exchange.headers)) {
    const text = 'Header mismatch: the Mcp-Param headers do not match the arguments';
    reply.finish(errorBody(message.id, ERRORS.headerMismatch, text), 400);
    return NO_FLOW;
  }
  const attempt: Attempt = { exchange, body, request: message, reply, logLevel: logLevelOf(meta) };
  const { requestState } = objectOfMembers(body, message);
  if (requestState !== undefined) return resumeCall(context, attempt, requestDigest(body, message)) ?? NO_FLOW;
  return inSession(context, meta, attempt, (lent, flow) => {
    const { session } = lent;
    if (message.method === 'server/discover') reply.finish(discoverMessage(message, session.facts));
    else if (message.method === 'subscriptions/listen') startListening(context, session, attempt, flow);
    else startCall(context, lent, meta, attempt, flow);
  });
}

/**
 * Parses the members of `params` if a `requestState` may be among them. Otherwise returns an empty object, to save the
 * parsing.
 */
function objectOfMembers(body: Buffer, { params }: RequestMessage): JsonObject {
  return params !== undefined && body.includes('"requestState"') ? objectOf(body, params) : {};
}

function findRefusal(
  request: RequestMessage,
  meta: JsonObject,
): { readonly status: number; readonly bytes: Buffer } | undefined {
  const { id, method } = request;
  if (SESSION_METHODS.has(method)) {
    return { status: 404, bytes: errorBody(id, ERRORS.methodNotFound, `Method not found: ${method}`) };
  }
  if (!isObject(meta[META_CAPABILITIES])) {
    const bytes = errorBody(id, ERRORS.invalidParams, `Invalid params: _meta lacks ${META_CAPABILITIES}`);
    return { status: 400, bytes };
  }
  const level = meta['io.modelcontextprotocol/logLevel'];
  if (level === undefined || (typeof level === 'string' && LOG_LEVELS.includes(level))) return undefined;
  return {
    status: 400,
    bytes: errorBody(id, ERRORS.invalidParams, `Invalid params: no log level ${JSON.stringify(level)}`),
  };
}

function discoverMessage({ id }: RequestMessage, { capabilities, serverInfo, instructions }: ServerFacts): Buffer {
  const result = {
    resultType: 'complete',
    supportedVersions: SUPPORTED_REVISIONS,
    capabilities: serverCapabilities(capabilities),
    instructions,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: serverInfo === undefined ? undefined : { [META_SERVER]: serverInfo },
  };
  return resultMessage(id.json, JSON.stringify(result));
}

function startListening(
  context: StatelessClientContext,
  session: BackendSession,
  { body, request, reply }: Attempt,
  flow: LaterFlow,
): void {
  listenInSession(context, session, body, request, reply).then((started) => {
    if (started !== undefined) flow.begin(started);
  });
}
