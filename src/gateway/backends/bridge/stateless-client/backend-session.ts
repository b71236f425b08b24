// Opens and closes sessions at a server for clients without sessions, and creates the requests of these sessions.

import { isObject, type JsonObject } from '#std/json.ts';
import { HEADERS } from '../../../wire/headers.ts';
import { eraOfRevision, LATEST_SESSION_REVISION } from '../../../wire/revisions.ts';
import type { BackendFault, Exchange, Flow } from '../../backend.ts';
import { type Asked, ask, type Cause, headersFor, postExchange } from '../ask.ts';
import { askingOf, type BridgeContext } from '../context.ts';
import { callMessage, objectOf } from '../messages.ts';
import { type ServerFacts, sessionClientCapabilities } from '../protocol.ts';
import type { SessionCall, SessionListener } from './participants.ts';

export interface BackendSession {
  /** Key of the caller and the capabilities that the session is for. */
  readonly key: string;
  /** The server's session id. Absent if the server does not use session ids. */
  readonly id?: string;
  readonly revision: string;
  readonly facts: ServerFacts;
  /** True if the server may question the client. */
  readonly mayAsk: boolean;
  readonly calls: Set<SessionCall>;
  readonly listeners: Set<SessionListener>;
  /** URIs that the session has subscribed to, with the number of listeners of each URI. */
  readonly watched: Map<string, number>;
  /** Least severe log level that was requested from the server, as an index of LOG_LEVELS. */
  logLevel?: number;
  stream: GetStream;
  /** The session's last request. Messages that the bridge sends on its own use the credentials of this request. */
  cause: Cause;
  lastId: number;
  /** Time of the last use, in monotonic milliseconds. */
  usedAt: number;
  ended: boolean;
}

/** Stream for messages of the server that belong to no request. */
type GetStream =
  | { readonly kind: 'none' }
  | { readonly kind: 'open'; readonly flow: Flow; readonly begun: Promise<void> }
  /** The server offers no stream (405, MCP 2025-11-25). */
  | { readonly kind: 'refused' };

/** Returns an id that is unique in this session, as JSON text. */
export function nextId(session: BackendSession): string {
  session.lastId += 1;
  return String(session.lastId);
}

export function sessionPost({ id, revision }: BackendSession, cause: Cause, body: Buffer): Exchange {
  return postExchange(cause, 'session', body, { [HEADERS.protocolVersion]: revision }, id);
}

export function sessionGet({ id, revision }: BackendSession, cause: Cause, lastEventId?: string): Exchange {
  const own: Record<string, string> = { accept: 'text/event-stream', [HEADERS.protocolVersion]: revision };
  if (lastEventId !== undefined) own[HEADERS.lastEventId] = lastEventId;
  const { path, caller, authorize } = cause;
  return { method: 'GET', era: 'session', path, headers: headersFor(cause, own), session: id, caller, authorize };
}

/** Sends a request of the bridge in the session. */
export function askInSession(
  context: BridgeContext,
  session: BackendSession,
  method: string,
  params: JsonObject,
): Promise<Asked> {
  const body = callMessage(method, nextId(session), JSON.stringify(params));
  return ask(askingOf(context), sessionPost(session, session.cause, body));
}

/** Sends a message that gets no response: a notification, or a response to a request of the server. */
export function notifyServer(context: BridgeContext, session: BackendSession, body: Buffer): Promise<Asked> {
  return ask(askingOf(context), sessionPost(session, session.cause, body));
}

export interface SessionClient {
  readonly key: string;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
}

export type Opened =
  | { readonly ok: true; readonly session: BackendSession }
  | { readonly ok: false; readonly fault: BackendFault; readonly status?: number };

export async function openSession(context: BridgeContext, client: SessionClient, cause: Cause): Promise<Opened> {
  const asked = await ask(askingOf(context), postExchange(cause, 'session', initializeBody(client), {}));
  if (!asked.ok) return asked;
  const { bytes, message } = asked.response ?? {};
  const result = bytes === undefined ? {} : objectOf(bytes, message?.result);
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string') return refused(asked.status);
  const id = asked.headers[HEADERS.sessionId];
  const session = createSession(
    context,
    client,
    cause,
    typeof id === 'string' ? id : undefined,
    result,
    protocolVersion,
  );
  if (eraOfRevision(protocolVersion) !== 'session') {
    void closeSession(context, session);
    return refused(asked.status);
  }
  const reported = await notifyServer(context, session, callMessage('notifications/initialized', undefined));
  return reported.ok ? { ok: true, session } : reported;
}

function refused(status: number): Opened {
  const fault: BackendFault = {
    reason: 'answer-invalid',
    message: 'the MCP server did not answer initialize',
    detail: `status ${status}`,
  };
  return { ok: false, fault, status };
}

function initializeBody({ capabilities, clientInfo }: SessionClient): Buffer {
  const params = {
    protocolVersion: LATEST_SESSION_REVISION,
    capabilities: sessionClientCapabilities(capabilities),
    // clientInfo is required in MCP 2025-11-25 and optional in MCP 2026-07-28.
    clientInfo: clientInfo ?? { name: 'mcp-client', version: 'unknown' },
  };
  return callMessage('initialize', '0', JSON.stringify(params));
}

function createSession(
  { ports }: BridgeContext,
  { key, capabilities }: SessionClient,
  cause: Cause,
  id: string | undefined,
  result: JsonObject,
  revision: string,
): BackendSession {
  const { capabilities: offered, serverInfo, instructions } = result;
  return {
    key,
    id,
    revision,
    facts: {
      capabilities: isObject(offered) ? offered : {},
      serverInfo: isObject(serverInfo) ? serverInfo : undefined,
      instructions: typeof instructions === 'string' ? instructions : undefined,
    },
    mayAsk: ['elicitation', 'sampling', 'roots'].some((name) => isObject(capabilities[name])),
    calls: new Set(),
    listeners: new Set(),
    watched: new Map(),
    stream: { kind: 'none' },
    cause,
    lastId: 0,
    usedAt: ports.clock.monotonic(),
    ended: false,
  };
}

/**
 * Ends the session in this process and at the server (MCP 2025-11-25, Transports, Session Management). Resolves when
 * the server has answered or the request has failed.
 */
export async function closeSession(context: BridgeContext, session: BackendSession): Promise<void> {
  if (session.ended) return;
  session.ended = true;
  if (session.stream.kind === 'open') session.stream.flow.abort();
  session.stream = { kind: 'none' };
  if (session.id === undefined) return;
  const { cause, id, revision } = session;
  const { path, caller, authorize } = cause;
  const headers = headersFor(cause, { [HEADERS.protocolVersion]: revision });
  await ask(askingOf(context), { method: 'DELETE', era: 'session', path, headers, session: id, caller, authorize });
}
