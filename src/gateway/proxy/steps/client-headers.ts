// Which headers of a client reach what is behind the proxy, if a configuration names them, and what they say about the caller.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isCallerCredential } from '#contracts/virtual/passthrough-headers.ts';
import { configFault } from '../../credentials/config-fault.ts';
import { settableHeader } from '../../credentials/header-rules.ts';
import type { Caller } from '../caller.ts';

/** Names in lower case. */
export type ClientHeaders = ReadonlySet<string>;

/** Throws Failure `credential-config-invalid` for a header that must not be passed. */
export function readClientHeaders(names: readonly string[]): ClientHeaders {
  return new Set(
    names.map((name, index) => {
      const pointer = `/passthroughHeaders/${index}`;
      if (!isCallerCredential(name)) return settableHeader(name, pointer);
      throw configFault(pointer, `${name} shows who calls: a server that gets it could act as the caller`);
    }),
  );
}

/** Headers of HTTP and MCP themselves, and those that the proxy reads and does not pass as they are. */
const PROTOCOL: ReadonlySet<string> = new Set([
  ...['accept', 'accept-language', 'content-type', 'content-length', 'connection', 'host', 'last-event-id'],
  ...['user-agent', 'traceparent', 'tracestate', 'baggage', 'authorization'],
]);

/** The headers without those that are not named. */
export function keepClientHeaders(headers: IncomingHttpHeaders, named: ClientHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => PROTOCOL.has(name) || name.startsWith('mcp-') || named.has(name),
  );
  return Object.fromEntries(kept);
}

/**
 * The caller with another key if the values of the named headers are others: what is kept for one of them (sessions, lists,
 * tokens) is not for another, since a server may know them by these headers alone.
 */
export function callerWithHeaders(caller: Caller, headers: IncomingHttpHeaders, named: ClientHeaders): Caller {
  if (named.size === 0) return caller;
  const values = [...named].sort().map((name) => [name, headers[name] ?? null]);
  const shown = createHash('sha256').update(JSON.stringify(values)).digest('base64url');
  return { ...caller, key: JSON.stringify([caller.key, shown]) };
}
