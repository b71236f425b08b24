// Serves streamable HTTP over lines, which are message channels to MCP servers. Supports revisions with sessions (MCP
// 2024-11-05 to 2025-11-25). Supports MCP 2026-07-28 if the parts include `openRequest`.

import { shownText } from '#std/json.ts';
import { eraOfRevision } from '../../wire/revisions.ts';
import type { Answer, Backend, BackendFault, Era, Exchange, Flow, Probe } from '../backend.ts';
import { createToolSchemas, type ToolSchemas } from '../bridge/tool-schemas.ts';
import type { BackendClock } from '../ports.ts';
import { answerEmpty, NO_FLOW, refuseExchange } from './errors.ts';
import { lineFault } from './faults.ts';
import { SESSION_LIMITS, type SessionLimits } from './limits.ts';
import type { OpenRequest, OpenSession, WaitingClient } from './link.ts';
import type { BackendObserver } from './observer.ts';
import { endQuiet, endUnused } from './room.ts';
import { createSession, type Session } from './session.ts';
import { openStateless, type StatelessRequest } from './stateless.ts';

export interface SessionBackendParts {
  /** Prefix of event ids, without dots. Differs between replicas and after each restart. */
  readonly replica: string;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
  readonly limits?: Partial<SessionLimits>;
  readonly open: OpenSession;
  /**
   * Opens the line for one request of the stateless era. The line is closed when the request is answered or cancelled.
   * If absent, requests of the stateless era are refused.
   */
  readonly openRequest?: OpenRequest;
  readonly eras: () => ReadonlySet<Era> | undefined;
  readonly probe: () => Promise<Probe>;
  /** Closes the transport. Called after all sessions have ended. */
  readonly close: () => Promise<void>;
}

interface State {
  readonly parts: SessionBackendParts;
  readonly limits: SessionLimits;
  readonly sessions: Map<string, Session>;
  /** Sessions whose `initialize` has no answer yet. */
  readonly opening: Set<Session>;
  readonly requests: Set<StatelessRequest>;
  readonly schemas: ToolSchemas;
  /** Promises that resolve when a closing line is closed. */
  readonly lines: Set<Promise<void>>;
  closing: boolean;
  stopTicking: () => void;
}

export function createSessionBackend(parts: SessionBackendParts): Backend {
  const state: State = {
    parts,
    limits: { ...SESSION_LIMITS, ...parts.limits },
    sessions: new Map(),
    opening: new Set(),
    requests: new Set(),
    schemas: createToolSchemas(),
    lines: new Set(),
    closing: false,
    stopTicking: () => undefined,
  };
  keepTime(state);
  return {
    open: (exchange, answer) => routeExchange(state, exchange, answer),
    eras: parts.eras,
    probe: parts.probe,
    close: (graceMs) => close(state, graceMs),
  };
}

const CLOSING: BackendFault = { reason: 'unreachable', message: 'the proxy is shutting down', retryAfterSeconds: 1 };

function routeExchange(state: State, exchange: Exchange, answer: Answer): Flow {
  if (state.closing) return failExchange(answer, CLOSING);
  if (exchange.era === 'stateless') return openRequest(state, exchange, answer);
  if (exchange.method === 'POST' && exchange.message === undefined)
    return refuseExchange(answer, 400, undefined, 'no message');
  const { message } = exchange;
  const id = message?.kind === 'request' ? message.id.json : undefined;
  if (message?.kind === 'request' && message.method === 'initialize') return initialize(state, exchange, answer);
  if (exchange.session === undefined) return refuseExchange(answer, 400, id, 'the header Mcp-Session-Id is required');
  const session = state.sessions.get(exchange.session);
  if (session === undefined || session.caller !== exchange.caller) return failExchange(answer, UNKNOWN);
  if (!knowsVersion(exchange)) return refuseExchange(answer, 400, id, 'the MCP-Protocol-Version is not supported');
  switch (exchange.method) {
    case 'GET':
      return session.listen(exchange, answer);
    case 'DELETE':
      session.end({ reason: 'closed', message: 'the client ended the session' });
      answerEmpty(answer, 204);
      return NO_FLOW;
    case 'POST':
      return id === undefined ? session.notify(exchange, answer) : session.request(exchange, answer);
  }
}

const UNKNOWN: BackendFault = { reason: 'session-unknown', message: 'the session does not exist, or has ended' };

function failExchange(answer: Answer, fault: BackendFault): Flow {
  answer.fail(fault);
  return NO_FLOW;
}

/** Returns true for revisions with sessions, and for requests without the header, which is optional. */
function knowsVersion({ headers }: Exchange): boolean {
  const version = headers['mcp-protocol-version'];
  return version === undefined || eraOfRevision(version) === 'session';
}

function openRequest(state: State, exchange: Exchange, answer: Answer): Flow {
  const { openRequest: openLine, observer, clock } = state.parts;
  if (openLine === undefined) {
    return failExchange(answer, {
      reason: 'not-supported',
      message: 'the MCP server speaks revisions with sessions only',
    });
  }
  if (exchange.method !== 'POST') {
    answerEmpty(answer, 405, { allow: 'POST' });
    return NO_FLOW;
  }
  const { keepAliveMs, silenceMs } = state.limits;
  const parts = {
    ...{ open: openLine, observer, monotonic: clock.monotonic, keepAliveMs, silenceMs, schemas: state.schemas },
    started: (request: StatelessRequest) => state.requests.add(request),
    finished: (request: StatelessRequest) => state.requests.delete(request),
    closing: (closed: Promise<void>) => noteClosing(state, closed),
  };
  return openStateless(parts, exchange, answer);
}

function initialize(state: State, exchange: Exchange, answer: Answer): Flow {
  const { parts, limits, opening } = state;
  const full = state.sessions.size + opening.size >= limits.sessions;
  if (full && !endUnused(state.sessions)) return failExchange(answer, FULL);
  const id = parts.clock.random(18).toString('base64url');
  const session: Session = createSession({
    ...{ id, caller: exchange.caller, limits },
    ...{ replica: parts.replica, clock: parts.clock, observer: parts.observer },
    closing: (closed) => noteClosing(state, closed),
    ended() {
      stopWaiting();
      opening.delete(session);
      state.sessions.delete(id);
    },
  });
  const stopWaiting = parts.clock.after(limits.initializeMs, () => session.end(SILENT));
  opening.add(session);
  let flow: Flow | undefined;
  let gone = false;
  let refused = false;

  const headers = (): Record<string, string> => (refused ? {} : { 'mcp-session-id': id });

  /** Starts the session with the server's answer, before the client gets the answer. */
  function settle(message: Buffer): void {
    stopWaiting();
    opening.delete(session);
    const version = agreedVersion(message);
    refused = version === undefined;
    if (version !== undefined) session.agree(version);
    if (!refused && !gone) state.sessions.set(id, session);
    else queueMicrotask(() => session.end(REFUSED));
  }

  const client: WaitingClient = {
    caller: exchange.caller,
    left: () => gone,
    makeRoom: () => endQuiet({ session, opening, sessions: state.sessions, now: parts.clock.monotonic() }),
  };
  parts.open(exchange, session.handlers, client).then(
    (link) => {
      session.use(link);
      if (gone || !opening.has(session)) return session.end(REFUSED);
      session.onResponse(exchange.message?.kind === 'request' ? exchange.message.id.json : '', settle);
      flow = session.request(exchange, answer, headers);
    },
    (error: unknown) => {
      const expected = opening.has(session);
      session.end(REFUSED);
      if (expected && !gone) answer.fail(lineFault(error, parts.observer));
    },
  );
  return {
    abort() {
      gone = true;
      flow?.abort();
    },
    resume: () => flow?.resume(),
  };
}

const SILENT: BackendFault = { reason: 'timeout', message: 'the MCP server did not answer initialize in time' };
const REFUSED: BackendFault = { reason: 'closed', message: 'the session did not begin' };
const FULL: BackendFault = { reason: 'busy', message: 'there are too many sessions', retryAfterSeconds: 30 };

/** Returns `result.protocolVersion`. undefined for an error response. */
function agreedVersion(message: Buffer): string | undefined {
  const { result }: { result?: { protocolVersion?: unknown } } = JSON.parse(message.toString());
  return result === undefined ? undefined : shownText(result?.protocolVersion ?? '');
}

function keepTime(state: State): void {
  const { clock } = state.parts;
  state.stopTicking = clock.after(state.limits.keepAliveMs, () => {
    const now = clock.monotonic();
    for (const request of [...state.requests]) request.tick(now);
    for (const session of [...state.sessions.values(), ...state.opening]) {
      session.tick(now);
      if (!session.busy() && now - session.idleSince() > state.limits.idleMs) session.end(IDLE);
    }
    if (!state.closing) keepTime(state);
  });
}

const IDLE: BackendFault = { reason: 'closed', message: 'the session was idle for too long' };

async function close(state: State, graceMs: number): Promise<void> {
  const { clock, close: closeLines } = state.parts;
  state.closing = true;
  state.stopTicking();
  const deadline = clock.monotonic() + graceMs;
  while (isAnswering(state) && clock.monotonic() < deadline) {
    await new Promise<void>((resolve) => clock.after(20, resolve));
  }
  for (const session of [...state.sessions.values(), ...state.opening]) session.end(CLOSING);
  for (const request of [...state.requests]) request.end(CLOSING);
  await Promise.all(state.lines);
  await closeLines();
}

function noteClosing({ lines, parts: { observer } }: State, closed: Promise<void>): void {
  const noted = closed
    .catch((error: unknown) => observer.log('warn', `a line to the MCP server did not end: ${String(error)}`))
    .finally(() => lines.delete(noted));
  lines.add(noted);
}

function isAnswering({ sessions, opening, requests }: State): boolean {
  return requests.size > 0 || opening.size > 0 || [...sessions.values()].some((session) => session.answering());
}
