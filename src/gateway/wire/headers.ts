// HTTP headers of MCP and which headers pass a gateway.

import { utf8Text } from '#std/utf8.ts';
import { ERRORS, type ProtocolFault } from './errors.ts';
import type { Message } from './message.ts';
import { methodFacts } from './methods.ts';

/** Names in lower case. */
export const HEADERS = {
  sessionId: 'mcp-session-id',
  protocolVersion: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
  lastEventId: 'last-event-id',
} as const;

/** `Mcp-Param-{Name}`: arguments that a tool's schema asks to be mirrored (2026-07-28, Custom Headers). */
export const PARAM_HEADER_PREFIX = 'mcp-param-';

/** Names in lower case, as node:http gives them. */
export type HeaderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

const SENTINEL = '=?base64?';
const SENTINEL_END = '?=';
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** The value as a header can carry it (2026-07-28, Streamable HTTP, Value Encoding). */
export function encodeHeaderValue(value: string): string {
  const plain = value === '' || (PLAIN.test(value) && !isSentinel(value));
  return plain ? value : `${SENTINEL}${Buffer.from(value).toString('base64')}${SENTINEL_END}`;
}

/** Undefined where the value has characters that no header has, or is no canonical base64 of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = withoutOuterSpace(value);
  if (!FIELD_VALUE.test(trimmed)) return undefined;
  if (!isSentinel(trimmed)) return trimmed;
  const base64 = trimmed.slice(SENTINEL.length, -SENTINEL_END.length);
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? utf8Text(bytes) : undefined;
}

/** Optional white space around a field value (RFC 9110 section 5.5). Linear, unlike an expression that ends in `[ \t]+$`. */
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

/** The one value of a header; a header that came several times is joined as RFC 9110 section 5.3 says. */
function headerValue(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

/** Undefined where it came several times: Node joins or drops those, and what is still a list cannot be relied on. */
export function singleHeader(headers: HeaderValues, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** By the value of `content-type`. */
export function isEventStream(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*text\/event-stream\s*(;|$)/i.test(contentType);
}

/** By the value of `content-type`. */
export function isJson(contentType: string | readonly string[] | undefined): boolean {
  return typeof contentType === 'string' && /^\s*application\/json\s*(;|$)/i.test(contentType);
}

/**
 * Whether the headers of a request of the stateless era say what its body says (2026-07-28, Streamable HTTP, Server
 * Validation). Notifications have no rules there. That header and `_meta` name one revision is asked by `eraOf`.
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

/** What the client has to send with this message in the stateless era. Empty for what is no request. */
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

/** RFC 9110 section 7.6.1, with the ones that older software still sends. */
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

/** Besides: framing of this connection, credentials and sessions of the caller with us. */
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

/** Cross-origin rules are those of the proxy, not of what is behind it (Fetch standard, CORS protocol). */
const NOT_FROM_SERVERS = /^(content-length|set-cookie2?|alt-svc|access-control-.*)$/;

/**
 * What of a client's headers goes on. `Authorization` does not: whoever decides that the other side gets one adds it. Bodies
 * are asked for without a content coding, since lists and events are read. `Forwarded` and `X-Forwarded-*` are passed as they
 * came: whether they are trusted is for the caller to say, who names in `dropped` what does not go on.
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

/** What of a server's headers goes to the client. `Mcp-Session-Id` is still the server's own. */
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

/** Names that `Connection` lists: they are of this hop as well. */
function connectionOptions(headers: HeaderValues): ReadonlySet<string> | undefined {
  const value = headerValue(headers, 'connection');
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((name) => name.trim().toLowerCase()));
}

/** HTTP/2 has names that begin with a colon; they are no headers. */
function isFieldName(name: string): boolean {
  return name.charCodeAt(0) !== 0x3a && name !== '';
}
