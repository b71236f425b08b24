// Starts a call in a session at the server. If the server no longer has the session, starts the call again in a new
// session, at most once.

import { isObject, type JsonObject } from '#std/json.ts';
import type { Flow } from '../../backend.ts';
import { createLaterFlow, type LaterFlow } from '../context.ts';
import { ASKING_METHODS, LOG_LEVELS, MAY_ASK, META_CAPABILITIES, META_CLIENT } from '../protocol.ts';
import { askInSession, type BackendSession } from './backend-session.ts';
import { attemptFlow } from './call-end.ts';
import type { Attempt, Call } from './call-state.ts';
import type { StatelessClientContext } from './context.ts';
import type { Lent } from './pool.ts';
import { requestDigest } from './request.ts';
import { sendCall } from './send.ts';

/** Session that a request uses until `release` is called. */
export type Lending = Extract<Lent, { readonly ok: true }>;

/** Calls `proceed` with a session of the caller. `proceed` must release the session. */
export function inSession(
  context: StatelessClientContext,
  meta: JsonObject,
  { exchange, request, reply }: Attempt,
  proceed: (lent: Lending, flow: LaterFlow) => void,
): Flow {
  const { [META_CAPABILITIES]: capabilities, [META_CLIENT]: clientInfo } = meta;
  const flow = createLaterFlow();

  function settle(opened: Lent): void {
    if (opened.ok && !flow.aborted()) {
      proceed(opened, flow);
      return;
    }
    if (opened.ok) opened.release();
    if (opened.ok || flow.aborted()) return;
    const { status, fault } = opened;
    if (status === 401 || status === 403 || status === 429) reply.end(status);
    else reply.fail(fault);
  }

  const own = isObject(capabilities) ? capabilities : {};
  const alone = MAY_ASK.has(request.method) && [...ASKING_METHODS.values()].some((name) => isObject(own[name]));
  const client = isObject(clientInfo) ? clientInfo : undefined;
  const opened = context.pool.find({ cause: exchange, capabilities: own, clientInfo: client, alone });
  if ('ok' in opened) settle(opened);
  else opened.then(settle);
  return flow;
}

export function startCall(
  context: StatelessClientContext,
  lent: Lending,
  meta: JsonObject,
  attempt: Attempt,
  flow: LaterFlow,
): void {
  const { session } = lent;
  const call = createCall(lent, meta, attempt);
  // A server does not execute a call in a session that it does not have. The call can therefore be sent again in a new
  // session.
  const lost = () => {
    context.pool.lose(session);
    flow.begin(
      inSession(context, meta, attempt, (another, inner) => {
        const again = createCall(another, meta, attempt);
        inner.begin(attemptFlow(context, again, attempt));
        sendCall(context, again, () => attempt.reply.fail(SESSION_LOST));
      }),
    );
  };
  flow.begin(attemptFlow(context, call, attempt));
  const levelled = lowerLogLevel(context, session, attempt.logLevel);
  if (levelled === undefined) {
    sendCall(context, call, lost);
    return;
  }
  levelled.then(() => {
    if (!flow.aborted()) sendCall(context, call, lost);
  });
}

const SESSION_LOST = { reason: 'closed', message: 'the MCP server does not keep its sessions' } as const;

function createCall({ session, release }: Lending, meta: JsonObject, attempt: Attempt): Call {
  const capabilities = meta[META_CAPABILITIES];
  const { body, request, exchange } = attempt;
  return {
    session,
    release,
    caller: exchange.caller,
    capabilities: isObject(capabilities) ? capabilities : {},
    digest: () => requestDigest(body, request),
    attempt,
    questions: [],
    asked: 0,
    rounds: 0,
    held: [],
    heldBytes: 0,
    blocked: false,
    over: false,
  };
}

/**
 * Lowers the server's log level to the lowest level that a call of the session asks for. The level applies to the whole
 * session, so each call filters its own messages.
 */
function lowerLogLevel(
  context: StatelessClientContext,
  session: BackendSession,
  level: number | undefined,
): Promise<unknown> | undefined {
  if (level === undefined || !isObject(session.facts.capabilities.logging)) return undefined;
  if (session.logLevel !== undefined && session.logLevel <= level) return undefined;
  session.logLevel = level;
  return askInSession(context, session, 'logging/setLevel', { level: LOG_LEVELS[level] });
}
