// Reads and checks HTTP headers of MCP, and decides which headers pass a gateway.

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
 * Prefix of `Mcp-Param-{Name}`: arguments that a tool's schema mirrors into headers (MCP 2026-07-28, Custom Headers).
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
 * Decodes a value. Returns undefined if the value has characters that no header can have, or is not canonical base64 of
 * UTF-8.
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
 * Removes optional white space around a field value (RFC 9110 section 5.5). Linear, unlike an expression that ends in
 * `[ \t]+$`.
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

/** Returns the value of a header. Several headers of one name are joined (RFC 9110 section 5.3). */
function headerValue(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

/**
 * Returns the value, or undefined if the header came several times: Node joins or drops repeated headers, so a list is
 * not reliable.
 */
export function singleHeader(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns whether a value of `content-type` is an event stream. */
export function isEventStream(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}

/** Returns whether a value of `content-type` is JSON. */
export function isJson(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*application\/json\s*(;|$)/i.test(contentType);
}

/**
 * Checks the headers of a stateless request against its body (MCP 2026-07-28, Streamable HTTP, Server Validation).
 * Notifications have no rules. `eraOf` checks that the header and `_meta` name the same revision.
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
 * Returns the headers that the client has to send with this message in the stateless era; empty unless the message is a
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

/** Headers of RFC 9110 section 7.6.1, and older hop-by-hop headers that software still sends. */
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
 * Headers of clients that are not sent on: hop-by-hop headers, framing of this connection, and credentials and sessions
 * of the caller at this gateway.
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
 * Headers of servers that are not sent on. The proxy itself sets cross-origin rules (Fetch standard, CORS protocol).
 */
const NOT_FROM_SERVERS = /^(content-length|set-cookie2?|alt-svc|access-control-.*)$/;

/**
 * Returns the headers of a client that are sent on. `Authorization` is left out: the code that authenticates to the
 * server adds its own. Bodies are requested without a content coding, since the gateway reads lists and events.
 * `Forwarded` and `X-Forwarded-*` pass unchanged; a caller that does not trust these headers names them in `dropped`.
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

/** Returns the headers of a server that are sent to the client. `Mcp-Session-Id` is still the server's own. */
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

/** Returns the names that `Connection` lists, which apply only to this connection. */
function connectionOptions(headers: HeaderValues): ReadonlySet<string> | undefined {
  const value = headerValue(headers, 'connection');
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((name) => name.trim().toLowerCase()));
}

/** Names that begin with a colon are pseudo-headers of HTTP/2, not headers. */
function isFieldName(name: string): boolean {
  return name.charCodeAt(0) !== 0x3a && name !== '';
}
