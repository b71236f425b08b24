// Formats refusals and faults for MCP clients: an HTTP status and a JSON-RPC error (MCP specification, Transports).

import { challenge } from '#auth/challenge.ts';
import type { ResourceSettings } from '#auth/settings.ts';
import type { Json } from '#std/json.ts';
import type { BackendFault } from '../backends/backend.ts';
import type { Denial } from '../gate/codes.ts';
import { ERRORS, errorBody, type ProtocolFault } from '../wire/errors.ts';
import type { MessageId } from '../wire/message.ts';
import type { ProxyCode } from './codes.ts';

/** An answer of the gateway that refuses a request. */
export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly data?: Json;
  /** Id of the request, if readable in the refused message. */
  readonly id?: MessageId;
  /** Code of docs/errors.md, for the log, metrics and audit. */
  readonly reason: string;
}

interface Shown {
  readonly status: number;
  readonly code: ProxyCode;
}

const SHOWN: Readonly<Record<BackendFault['reason'], Shown>> = {
  unreachable: { status: 502, code: 'server-unreachable' },
  closed: { status: 502, code: 'server-closed' },
  'answer-invalid': { status: 502, code: 'server-answer-invalid' },
  'answer-too-large': { status: 502, code: 'server-answer-too-large' },
  timeout: { status: 504, code: 'server-timeout' },
  busy: { status: 503, code: 'server-busy' },
  'not-started': { status: 503, code: 'server-not-started' },
  'session-unknown': { status: 404, code: 'session-unknown' },
  'not-supported': { status: 501, code: 'server-not-supported' },
  unauthorized: { status: 401, code: 'server-unauthorized' },
  forbidden: { status: 403, code: 'server-forbidden' },
};

export function faultCode({ reason }: BackendFault): ProxyCode {
  return SHOWN[reason].code;
}

export function faultRefusal({ reason, message, retryAfterSeconds }: BackendFault): Refusal {
  const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) };
  const { status, code } = SHOWN[reason];
  return { status, code: ERRORS.internalError, message, headers, reason: code };
}

/** Formats a JSON-RPC error response for the body of a refusal. */
export function refusalBody({ code, message, data, id: own }: Refusal, id: MessageId | undefined): Buffer {
  return errorBody(id ?? own, code, message, data);
}

export function protocolRefusal({ status, code, message, data }: ProtocolFault): Refusal {
  return { status, code, message, data, reason: 'protocol-violated' };
}

/**
 * Refuses a session id that is unknown, has ended, or belongs to another caller. The status 404 makes the client begin
 * a new session.
 */
export function sessionUnknown(): Refusal {
  return { status: 404, code: ERRORS.sessionNotFound, message: 'Session not found', reason: 'session-unknown' };
}

export const ACCEPT_REFUSED: Refusal = {
  status: 406,
  code: -32600,
  message: 'Accept must include text/event-stream',
  reason: 'accept-refused',
};

export const SESSION_REQUIRED: Refusal = {
  status: 400,
  code: -32600,
  message: 'A DELETE ends a session: name it in Mcp-Session-Id',
  reason: 'session-required',
};

export function denialRefusal({ httpStatus, rpcCode, code, message, retryAfterSeconds, data }: Denial): Refusal {
  const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(retryAfterSeconds) };
  return { status: httpStatus, code: rpcCode, message, headers, data, reason: code };
}

/**
 * Refuses a call, and names the scopes with which the policies would permit the call (MCP 2025-11-25, Authorization,
 * Runtime Insufficient Scope Errors).
 */
export function scopeRefusal(
  resource: Pick<ResourceSettings, 'realm' | 'resourceUrl'>,
  scopes: readonly string[],
): Refusal {
  const scope = scopes.join(' ');
  const message = `The token lacks a scope for this: it needs ${scope}.`;
  const header = challenge(resource, { error: 'insufficient_scope', message, scope });
  const headers = { 'www-authenticate': header, 'cache-control': 'no-store' };
  return { status: 403, code: 403, message, headers, reason: 'policy-scope-missing' };
}

export const INTERNAL: Refusal = { status: 500, code: -32603, message: 'Internal error', reason: 'proxy-internal' };

export const TOO_LARGE: Refusal = {
  status: 413,
  code: -32600,
  message: 'The message is larger than this server accepts.',
  // The proxy does not read the remaining bytes of the request, so the connection cannot be reused.
  headers: { connection: 'close' },
  reason: 'request-too-large',
};

/** Refuses a message that was read completely, so the connection stays usable. */
export function keptTooLarge(message: string): Refusal {
  return { status: 413, code: ERRORS.invalidRequest, message, reason: 'request-too-large' };
}

export const HINTS_UNREADABLE: Refusal = {
  status: 503,
  code: ERRORS.internalError,
  message: 'Policies read hints of tools, and the list of tools of the MCP server could not be read. Try again.',
  headers: { 'retry-after': '5' },
  reason: 'tool-hints-unreadable',
};

export const LOCK_UNREADABLE: Refusal = {
  status: 503,
  code: ERRORS.internalError,
  message:
    'The server is held to reviewed definitions, and the list of the MCP server that has them could not be read. Try again.',
  headers: { 'retry-after': '5' },
  reason: 'definitions-unreadable',
};

export const AUDIT_UNWRITABLE: Refusal = {
  status: 503,
  code: ERRORS.internalError,
  message: 'No audit event can be written at the moment, and calls without one are refused here.',
  headers: { 'retry-after': '5' },
  reason: 'audit-unwritable',
};

export const TOO_MANY_RESOURCES: Refusal = {
  status: 400,
  code: ERRORS.invalidParams,
  message: 'Invalid params: a subscription names at most 100 resources. Open several subscriptions.',
  reason: 'subscription-too-large',
};

/** Recorded for a client that disconnected before its answer was complete. 499 is the status that nginx logs. */
export const CLIENT_CLOSED: Refusal = {
  status: 499,
  code: -32600,
  message: 'The request was cut off.',
  reason: 'request-cut-off',
};
