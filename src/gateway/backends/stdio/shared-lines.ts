// Shares one process among many clients. Each client gets a line that carries only the client's own messages.

import { isObject, type JsonObject, shownText } from '#std/json.ts';
import { ERRORS } from '../../wire/errors.ts';
import type { Era, Exchange, Probe } from '../backend.ts';
import type { LinkHandlers } from '../link.ts';
import type { BackendClock } from '../ports.ts';
import type { SessionHandlers, SessionLink } from '../sessions/link.ts';
import type { BackendObserver } from '../sessions/observer.ts';
import { type FromClientParts, releaseClient, routeFromClient } from './from-client.ts';
import { answerClient, type FromServerParts, routeFromServer } from './from-server.ts';
import { type Greeted, lostAnswer, otherEra } from './handshake.ts';
import type { ProcessLine } from './line.ts';
import { createProcessServer, type ProcessServer } from './process-server.ts';
import { agreedRevision, type ClientInfo, sharedCapabilities } from './protocol.ts';
import { type Client, type ClientRequest, createRequests, type Requests } from './requests.ts';

export interface SharedLinesParts {
  /** Opens the connection to the process. Rejects with a Failure. */
  readonly open: (handlers: LinkHandlers) => Promise<ProcessLine>;
  readonly clock: BackendClock;
  readonly observer: BackendObserver;
  /**
   * Prefix of the ids that the process gets: letters, digits, - and _. Differs between replicas and after each restart.
   */
  readonly replica: string;
  readonly clientInfo: ClientInfo;
  readonly initializeMs?: number;
  readonly discoverMs?: number;
  /**
   * Time without messages and ping answers after which the connection to the process is opened again. 0 means never and
   * is the default.
   */
  readonly silentMs?: number;
  /** If true, a process of the session era is refused as unsupported. */
  readonly statelessOnly?: boolean;
}

export interface SharedLines {
  /** Opens a line for a session, or for one request of the stateless era. Rejects if the process speaks another era. */
  open(era: Era, exchange: Exchange, handlers: SessionHandlers): Promise<SessionLink>;
  eras(): ReadonlySet<Era> | undefined;
  probe(): Promise<Probe>;
  close(): Promise<void>;
}

const DEFAULTS = { initializeMs: 60_000, discoverMs: 10_000, silentMs: 0 };
const PROBE_MS = 5000;

interface State {
  readonly parts: SharedLinesParts;
  readonly requests: Requests;
  readonly clients: Set<Client>;
  readonly server: ProcessServer;
  /** Results of `initialize` as JSON texts, by negotiated revision. */
  readonly results: Map<string, string>;
  /** Only caller of this run of the process so far. Anonymous callers are represented by their client. */
  onlyCaller: string | Client | undefined;
  /** True if this run of the process has had several callers. */
  shared: boolean;
}

export function createSharedLines(parts: SharedLinesParts): SharedLines {
  const requests = createRequests(parts.replica);
  const clients = new Set<Client>();
  const server = createServer(
    parts,
    requests,
    () => state,
    (bytes) => routeFromServer(toClients, bytes),
  );
  const state: State = { parts, requests, clients, server, results: new Map(), onlyCaller: undefined, shared: false };
  const soleClient = (): Client | undefined => sole(state);
  const toClients: FromServerParts = {
    ...{ requests, clients, observer: parts.observer, soleClient },
    send: (message) => void server.current()?.line.send(message),
    responded: noteSubscription,
  };
  const toServer: FromClientParts = {
    ...{ requests, clients, observer: parts.observer, soleClient },
    era: () => server.current()?.era,
    sendLine: (line) => server.current()?.line.sendLine(line) !== undefined,
    initializeResult: (revision) => initializeResult(state, revision),
  };
  return {
    open: (era, exchange, handlers) => openClient(state, toServer, era, exchange, handlers),
    eras: () => erasOf(server.current()),
    probe: () => probeServer(state),
    close: server.close,
  };
}

function createServer(
  parts: SharedLinesParts,
  requests: Requests,
  state: () => State,
  message: (bytes: Buffer) => void,
): ProcessServer {
  const { open, observer, clock, clientInfo, statelessOnly = false } = parts;
  return createProcessServer({
    ...{ open, requests, clock, observer, clientInfo, message, statelessOnly },
    initializeMs: parts.initializeMs ?? DEFAULTS.initializeMs,
    discoverMs: parts.discoverMs ?? DEFAULTS.discoverMs,
    silentMs: parts.silentMs ?? DEFAULTS.silentMs,
    lost: () => failPending(requests),
    greeted: (_, another) => another && endClients(state()),
    drain: () => undefined,
  });
}

const ENDED = 'the MCP server ended before its answer: the request may have been carried out';

function failPending(requests: Requests): void {
  for (const request of requests.clear()) {
    if (request.kind === 'own') request.answered(lostAnswer(request.json));
    else answerClient(request, ERRORS.internalError, ENDED);
  }
}

/** Ends the lines of all clients, because a new run of the process does not have their sessions. */
function endClients(state: State): void {
  state.results.clear();
  state.onlyCaller = undefined;
  state.shared = false;
  for (const client of [...state.clients]) {
    state.clients.delete(client);
    client.handlers.closed('the MCP server was started again');
  }
}

const SOLE: Readonly<Record<Era, ReadonlySet<Era>>> = {
  session: new Set(['session']),
  stateless: new Set(['stateless']),
};

function erasOf(server: Greeted | undefined): ReadonlySet<Era> | undefined {
  return server === undefined ? undefined : SOLE[server.era];
}

/**
 * Returns the client that unsolicited messages belong to. undefined if this run had several callers, or if several
 * clients are possible.
 */
function sole({ clients, onlyCaller, shared, server }: State): Client | undefined {
  if (onlyCaller === undefined || shared) return undefined;
  const isStateless = server.current()?.era === 'stateless';
  const [only, ...others] = isStateless ? [...clients].filter(isServed) : clients;
  return others.length === 0 ? only : undefined;
}

/**
 * Requests that cause no unsolicited messages: the response comes at once, or all messages carry the request's id (MCP
 * 2026-07-28, Subscriptions).
 */
const NEVER_MEANT = new Set(['server/discover', 'subscriptions/listen']);

/**
 * Returns whether an unsolicited message may belong to a client of the stateless era. The process must be working on a
 * request of the client.
 */
function isServed({ requests }: Client): boolean {
  return [...requests.values()].some(({ method }) => !NEVER_MEANT.has(method));
}

/**
 * Records the caller for `onlyCaller` and `shared`. All anonymous callers have the same identity, so each anonymous
 * client is treated as a separate caller.
 */
function noteCaller(state: State, client: Client, { message }: Exchange): void {
  if (message?.kind === 'request' && NEVER_MEANT.has(message.method)) return;
  const caller = client.caller === '' ? client : client.caller;
  state.shared ||= state.onlyCaller !== undefined && state.onlyCaller !== caller;
  state.onlyCaller = caller;
}

async function openClient(
  state: State,
  toServer: FromClientParts,
  era: Era,
  exchange: Exchange,
  handlers: SessionHandlers,
): Promise<SessionLink> {
  const { era: spoken } = await state.server.acquire();
  if (spoken !== era) throw otherEra(spoken);
  const client: Client = { caller: exchange.caller, handlers, requests: new Map(), subscriptions: new Set() };
  state.clients.add(client);
  noteCaller(state, client, exchange);
  return {
    send(message, from) {
      routeFromClient(toServer, client, message, from);
      return true;
    },
    congested: () => state.server.current()?.line.congested() === true,
    // Each client that reads slowly has its own limit. A slow client must not stop the process for other clients.
    pause: () => undefined,
    resume: () => undefined,
    async close() {
      if (state.clients.delete(client)) releaseClient(toServer, client);
    },
  };
}

function noteSubscription({ client, method, uri }: ClientRequest, succeeded: boolean): void {
  if (uri === undefined || !succeeded) return;
  if (method === 'resources/subscribe') client.subscriptions.add(uri);
  if (method === 'resources/unsubscribe') client.subscriptions.delete(uri);
}

function initializeResult(state: State, requested: string | undefined): string | undefined {
  const result = state.server.current()?.result;
  if (result === undefined) return undefined;
  const revision = agreedRevision(requested, shownText(result.protocolVersion ?? ''));
  const known = state.results.get(revision);
  if (known !== undefined) return known;
  const capabilities: JsonObject = isObject(result.capabilities) ? sharedCapabilities(result.capabilities) : {};
  const text = JSON.stringify({ ...result, protocolVersion: revision, capabilities });
  state.results.set(revision, text);
  return text;
}

async function probeServer({ server, parts: { clock } }: State): Promise<Probe> {
  const began = clock.monotonic();
  try {
    const answered = await server.ping(PROBE_MS);
    const responseTimeMs = Math.round(clock.monotonic() - began);
    return answered ? { available: true, responseTimeMs } : { available: false, error: 'it does not answer a ping' };
  } catch (error) {
    return { available: false, error: error instanceof Error ? error.message : String(error) };
  }
}
