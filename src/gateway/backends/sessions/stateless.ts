// Serves one request of the stateless era on its own line, a message channel to the MCP server. The line is closed
// after the request.

import { ERRORS } from '../../wire/errors.ts';
import type { Message } from '../../wire/message.ts';
import { scanMessage } from '../../wire/scan.ts';
import type { Answer, BackendFault, Exchange, Flow } from '../backend.ts';
import type { ToolSchemas } from '../bridge/tool-schemas.ts';
import { type Accepted, acceptedTypes } from './call.ts';
import { answerEmpty, answerJson, errorMessage, NO_FLOW, refuseExchange } from './errors.ts';
import { EVENT_STREAM_HEADERS, formatMessage, KEEP_ALIVE } from './event-stream.ts';
import { lineFault } from './faults.ts';
import type { OpenRequest, Routed, SessionLink } from './link.ts';
import type { BackendObserver } from './observer.ts';
import { readRouted } from './routing.ts';

/** Request in progress, as seen by the code that enforces its time limits. */
export interface StatelessRequest {
  tick(now: number): void;
  end(fault: BackendFault): void;
}

export interface StatelessParts {
  readonly open: OpenRequest;
  readonly observer: BackendObserver;
  readonly monotonic: () => number;
  readonly keepAliveMs: number;
  /** Maximum time without a message of the server. 0 means no limit. */
  readonly silenceMs: number;
  /** Tool annotations that say which arguments are mirrored into headers. */
  readonly schemas: ToolSchemas;
  readonly started: (request: StatelessRequest) => void;
  readonly finished: (request: StatelessRequest) => void;
  /** Receives a promise that resolves when the request's line is closed. */
  readonly closing: (closed: Promise<void>) => void;
}

interface State {
  readonly parts: StatelessParts;
  readonly answer: Answer;
  readonly accepts: Accepted;
  readonly id: string;
  readonly method: string | undefined;
  link: SessionLink | undefined;
  begun: boolean;
  over: boolean;
  blocked: boolean;
  heardAt: number;
  sentAt: number;
}

export function openStateless(parts: StatelessParts, exchange: Exchange, answer: Answer): Flow {
  const { message, body } = exchange;
  if (message === undefined || body === undefined) return refuseExchange(answer, 400, undefined, 'no message');
  if (message.kind === 'response')
    return refuseExchange(answer, 400, undefined, 'no request of the server waits for a response');
  const refused = refuseRequest(parts, message, body, exchange, answer);
  if (refused !== undefined) return refused;
  const now = parts.monotonic();
  const id = message.kind === 'request' ? message.id.json : '';
  const accepts = acceptedTypes(exchange);
  const state: State = {
    ...{
      parts,
      answer,
      accepts,
      id,
      method: message.kind === 'request' ? message.method : undefined,
      link: undefined,
      begun: false,
      over: false,
      blocked: false,
    },
    ...{ heardAt: now, sentAt: now },
  };
  const request: StatelessRequest = {
    tick: (at) => tick(state, at, request),
    end: (fault) => failRequest(state, fault, request),
  };
  parts.started(request);
  parts
    .open(exchange, {
      message: (bytes, routed) => receiveForRequest(state, bytes, routed, request),
      closed: (detail) => failRequest(state, { ...CLOSED, detail }, request),
      drain: () => undefined,
    })
    .then(
      (link) => sendOn(state, link, exchange, request),
      (error: unknown) => failRequest(state, lineFault(error, parts.observer), request),
    );
  return {
    abort() {
      // A client cancels by closing the response stream (MCP 2026-07-28, Cancellation). Closing the line informs the
      // server.
      finishRequest(state, request);
    },
    resume() {
      state.blocked = false;
      state.link?.resume();
    },
  };
}

/** Validates headers and revision as an HTTP server would, since a stdio process gets neither headers nor statuses. */
function refuseRequest(
  { schemas }: StatelessParts,
  message: Message,
  body: Buffer,
  { headers }: Exchange,
  answer: Answer,
): Flow | undefined {
  if (message.kind !== 'request') return undefined;
  if (message.meta?.clientCapabilities === undefined) {
    const text = 'Invalid params: _meta lacks io.modelcontextprotocol/clientCapabilities';
    answerJson(answer, 400, errorMessage(message.id.json, ERRORS.invalidParams, text));
    return NO_FLOW;
  }
  if (schemas.match(message, body, headers)) return undefined;
  const text = 'Header mismatch: an Mcp-Param header differs from its argument';
  answerJson(answer, 400, errorMessage(message.id.json, ERRORS.headerMismatch, text));
  return NO_FLOW;
}

/** HTTP statuses of protocol errors (MCP 2026-07-28, Streamable HTTP). */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  [ERRORS.parseError, 400],
  [ERRORS.invalidRequest, 400],
  [ERRORS.methodNotFound, 404],
  [ERRORS.unsupportedProtocolVersion, 400],
  [ERRORS.missingClientCapability, 400],
  [ERRORS.headerMismatch, 400],
]);

function statusOfError(bytes: Buffer): number {
  const { error }: { error?: { code?: unknown } } = JSON.parse(bytes.toString());
  return STATUSES.get(error?.code) ?? 200;
}

const CLOSED: BackendFault = {
  reason: 'closed',
  message: 'the MCP server ended before its answer: the request may have been carried out',
};
const SILENT: BackendFault = { reason: 'timeout', message: 'the MCP server did not answer in time' };

function sendOn(state: State, link: SessionLink, exchange: Exchange, request: StatelessRequest): void {
  state.link = link;
  if (state.over) {
    state.parts.closing(link.close());
    return;
  }
  if (exchange.body !== undefined) link.send(exchange.body, exchange);
  if (exchange.message?.kind !== 'notification') return;
  finishRequest(state, request);
  answerEmpty(state.answer, 202);
}

function finishRequest(state: State, request: StatelessRequest): void {
  if (state.over) return;
  state.over = true;
  state.parts.finished(request);
  if (state.link !== undefined) state.parts.closing(state.link.close());
}

function failRequest(state: State, fault: BackendFault, request: StatelessRequest): void {
  if (state.over) return;
  finishRequest(state, request);
  if (!state.begun) {
    state.answer.fail(fault);
    return;
  }
  writeEvent(state, formatMessage(undefined, errorMessage(state.id, ERRORS.internalError, fault.message)));
  state.answer.end();
}

function receiveForRequest(state: State, bytes: Buffer, known: Routed | undefined, request: StatelessRequest): void {
  const { observer, monotonic } = state.parts;
  if (state.over) return;
  const routed = known ?? readRouted(bytes);
  if (typeof routed === 'string' || routed.kind === 'request') {
    observer.dropped('unreadable');
    return;
  }
  state.heardAt = monotonic();
  if (routed.kind === 'notification') deliver(state, bytes);
  else if (routed.id === state.id) respondOnce(state, bytes, routed.failed === true, request);
  else observer.dropped('response-unknown');
}

function respondOnce(state: State, bytes: Buffer, failed: boolean, request: StatelessRequest): void {
  finishRequest(state, request);
  if (state.method === 'tools/list' && !failed) learnTools(state.parts.schemas, bytes);
  if (!state.begun && state.accepts.json) {
    answerJson(state.answer, failed ? statusOfError(bytes) : 200, bytes);
    return;
  }
  deliver(state, bytes);
  state.answer.end();
}

function learnTools(schemas: ToolSchemas, bytes: Buffer): void {
  const scanned = scanMessage(bytes);
  const result = scanned.ok && scanned.message.kind === 'response' ? scanned.message.result : undefined;
  if (result !== undefined) schemas.learn(bytes, result);
}

function deliver(state: State, bytes: Buffer): void {
  if (!state.accepts.stream) {
    state.parts.observer.dropped('client-gone');
    return;
  }
  begin(state);
  writeEvent(state, formatMessage(undefined, bytes));
}

function begin(state: State): void {
  if (state.begun) return;
  state.begun = true;
  state.answer.head(200, EVENT_STREAM_HEADERS);
}

function writeEvent(state: State, event: Buffer): void {
  state.sentAt = state.parts.monotonic();
  if (state.answer.data(event) || state.blocked) return;
  state.blocked = true;
  state.link?.pause();
}

/** Enforces the time limits. A subscription may stay silent once its stream has begun. */
function tick(state: State, now: number, request: StatelessRequest): void {
  const { keepAliveMs, silenceMs } = state.parts;
  const isQuiet = state.begun && state.method === 'subscriptions/listen';
  if (!isQuiet && silenceMs > 0 && now - state.heardAt > silenceMs) {
    failRequest(state, SILENT, request);
    return;
  }
  if (!state.accepts.stream || state.blocked || now - state.sentAt < keepAliveMs) return;
  begin(state);
  writeEvent(state, KEEP_ALIVE);
}
