// Parses and validates HTTP headers of MCP, and selects the headers that a gateway forwards.

import { utf8Text } from '#std/utf8.ts';
import { ERRORS, type ProtocolFault } from './errors.ts';
import type { Message } from './message.ts';
import { methodFacts } from './methods.ts';

/** Header names in lower case. */
export const HEADERS = {
  sessionId: 'mcp-session-id',
  protocolVersion: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
  lastEventId: 'last-event-id',
} as const;

/**
 * Prefix of `Mcp-Param-{Name}`. These headers repeat arguments that the tool's schema selects (MCP 2026-07-28, Custom
 * Headers).
 */
export const PARAM_HEADER_PREFIX = 'mcp-param-';

/** Headers in the form of node:http, with names in lower case. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

const SENTINEL = '=?base64?';
const SENTINEL_END = '?=';
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** Encodes a value for a header (MCP 2026-07-28, Streamable HTTP, Value Encoding). */
export function encodeHeaderValue(value: string): string {
  const plain = value === '' || (PLAIN.test(value) && !isSentinel(value));
  return plain ? value : `${SENTINEL}${Buffer.from(value).toString('base64')}${SENTINEL_END}`;
}

/**
 * Decodes a header value. Returns undefined for characters that no header may contain, and for base64 that is not
 * canonical or not UTF-8.
 */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = withoutOuterSpace(value);
  if (!FIELD_VALUE.test(trimmed)) return undefined;
  if (!isSentinel(trimmed)) return trimmed;
  const base64 = trimmed.slice(SENTINEL.length, -SENTINEL_END.length);
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? utf8Text(bytes) : undefined;
}

/**
 * Removes optional white space around a field value (RFC 9110 section 5.5). Takes linear time, unlike a regular
 * expression that ends in `[ \t]+$`.
 */
function withoutOuterSpace(value: string): string {
  const isSpace = (at: number) => value.charCodeAt(at) === 0x20 || value.charCodeAt(at) === 0x09;
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return value.slice(start, end);
}

function isSentinel(value: string): boolean {
  return (
    value.startsWith(SENTINEL) && value.endsWith(SENTINEL_END) && value.length >= SENTINEL.length + SENTINEL_END.length
  );
}

/** Returns the value of a header. Joins repeated headers (RFC 9110 section 5.3). */
function headerValue(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

/**
 * Returns the value of a header that occurs once. Returns undefined for a list, because Node joins or drops some
 * repeated headers, so a list is not reliable.
 */
export function singleHeader(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

export function isEventStream(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}

export function isJson(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*application\/json\s*(;|$)/i.test(contentType);
}

/**
 * Validates the headers of a stateless request against its body (MCP 2026-07-28, Streamable HTTP, Server Validation).
 * Accepts every message that is not a request. `eraOf` checks that the header and `_meta` name the same revision.
 */
export function checkStandardHeaders(headers: HeaderValues, message: Message): ProtocolFault | undefined {
  if (message.kind !== 'request') return undefined;
  if (headerValue(headers, HEADERS.protocolVersion) === undefined) return mismatch('MCP-Protocol-Version is missing');
  const method = headerValue(headers, HEADERS.method);
  if (method === undefined) return mismatch('Mcp-Method is missing');
  if (withoutOuterSpace(method) !== message.method) return mismatch('Mcp-Method does not match the method of the body');
  if (methodFacts(message.method)?.nameHeader !== true) return undefined;
  const name = headerValue(headers, HEADERS.name);
  if (name === undefined) return mismatch('Mcp-Name is missing');
  const decoded = decodeHeaderValue(name);
  if (decoded === undefined) return mismatch('Mcp-Name has invalid characters or an invalid encoding');
  return decoded === message.target?.value ? undefined : mismatch('Mcp-Name does not match the body');
}

function mismatch(text: string): ProtocolFault {
  return { status: 400, code: ERRORS.headerMismatch, message: `Header mismatch: ${text}` };
}

/**
 * Returns the headers that a client must send with this message in the stateless era. Empty unless the message is a
 * request.
 */
export function standardHeaders(message: Message, revision: string): Record<string, string> {
  if (message.kind !== 'request') return {};
  const headers: Record<string, string> = {
    [HEADERS.protocolVersion]: revision,
    [HEADERS.method]: message.method,
  };
  if (methodFacts(message.method)?.nameHeader === true && message.target !== undefined) {
    headers[HEADERS.name] = encodeHeaderValue(message.target.value);
  }
  return headers;
}

/** Headers of RFC 9110 section 7.6.1, and older hop-by-hop headers that are still in use. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * Client headers that are not forwarded: hop-by-hop headers, framing of this connection, and the caller's credentials
 * and sessions for this gateway.
 */
const NOT_FROM_CLIENTS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'cookie',
  'authorization',
  'accept-encoding',
  HEADERS.sessionId,
]);

const NONE: ReadonlySet<string> = new Set();

/**
 * Server headers that are not forwarded. The proxy sets its own cross-origin headers (Fetch standard, CORS protocol).
 */
const NOT_FROM_SERVERS = /^(content-length|set-cookie2?|alt-svc|access-control-.*)$/;

/**
 * Returns the client headers for the server. `Authorization` is omitted, because the gateway authenticates to the
 * server with other credentials. Requests bodies without a content coding, since the gateway reads lists and events.
 * `Forwarded` and `X-Forwarded-*` pass unchanged. A caller that does not trust these headers names them in `dropped`.
 */
export function requestHeadersToForward(
  headers: HeaderValues,
  dropped: ReadonlySet<string> = NONE,
): Record<string, string> {
  const named = connectionOptions(headers);
  const forwarded: Record<string, string> = {};
  for (const name in headers) {
    if (NOT_FROM_CLIENTS.has(name) || dropped.has(name) || named?.has(name) === true || !isFieldName(name)) continue;
    const value = headerValue(headers, name);
    if (value !== undefined) forwarded[name] = value;
  }
  forwarded['accept-encoding'] = 'identity';
  return forwarded;
}

/** Returns the server headers for the client. `Mcp-Session-Id` is still the server's own id. */
export function responseHeadersToForward(headers: HeaderValues): Record<string, string | readonly string[]> {
  const named = connectionOptions(headers);
  const forwarded: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    if (HOP_BY_HOP.has(name) || NOT_FROM_SERVERS.test(name) || named?.has(name) === true || !isFieldName(name))
      continue;
    const value = headers[name];
    if (value !== undefined) forwarded[name] = value;
  }
  return forwarded;
}

/**
 * Returns the names that `Connection` lists. Headers with these names apply to this connection only, and are not
 * forwarded.
 */
function connectionOptions(headers: HeaderValues): ReadonlySet<string> | undefined {
  const value = headerValue(headers, 'connection');
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((name) => name.trim().toLowerCase()));
}

/** Returns false for pseudo-headers of HTTP/2, whose names begin with a colon. */
function isFieldName(name: string): boolean {
  return name.charCodeAt(0) !== 0x3a && name !== '';
}
