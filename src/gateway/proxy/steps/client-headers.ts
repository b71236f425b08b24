// Selects the client headers that the server gets, and includes their values in the caller's key.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { passthroughFault } from '#contracts/virtual/passthrough-headers.ts';
import { callerVariant } from '../../backends/caller-key.ts';
import { configFault } from '../../credentials/config-fault.ts';
import { settableHeader } from '../../credentials/header-rules.ts';
import { HEADERS, PARAM_HEADER_PREFIX } from '../../wire/headers.ts';
import type { Caller } from '../caller.ts';

/** Names in lower case. */
export type ClientHeaders = ReadonlySet<string>;

/** Reads the configured names. Throws Failure `credential-config-invalid` for a header that must not be passed on. */
export function readClientHeaders(names: readonly string[]): ClientHeaders {
  return new Set(
    names.map((name, index) => {
      const pointer = `/passthroughHeaders/${index}`;
      const fault = passthroughFault(name);
      if (fault === undefined) return settableHeader(name, pointer);
      throw configFault(pointer, `names ${name}: ${fault}`);
    }),
  );
}

/** Headers whose values change with each message or span. */
const OF_ONE_MESSAGE: ReadonlySet<string> = new Set([
  ...['accept', 'content-type', 'content-length', 'traceparent', 'tracestate', HEADERS.lastEventId],
  ...[HEADERS.sessionId, HEADERS.protocolVersion, HEADERS.method, HEADERS.name],
]);

/** Further headers that always pass: headers of HTTP, and headers that the proxy reads and changes. */
const PROTOCOL: ReadonlySet<string> = new Set([
  ...['accept-language', 'user-agent', 'baggage', 'connection', 'host', 'authorization'],
]);

function isOfOneMessage(name: string): boolean {
  return OF_ONE_MESSAGE.has(name) || name.startsWith(PARAM_HEADER_PREFIX);
}

/** Removes headers that are neither configured nor always passed. */
export function keepClientHeaders(headers: IncomingHttpHeaders, named: ClientHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => {
    return PROTOCOL.has(name) || isOfOneMessage(name) || named.has(name);
  });
  return Object.fromEntries(kept);
}

/**
 * Returns the caller with a key that includes the values of the configured headers. A server may distinguish callers
 * only by these headers, so sessions, lists and tokens are separate for each value. Headers that change with each
 * message are left out.
 */
export function callerWithHeaders(caller: Caller, headers: IncomingHttpHeaders, named: ClientHeaders): Caller {
  const counted = [...named].filter((name) => !isOfOneMessage(name)).sort();
  if (counted.length === 0) return caller;
  const values = counted.map((name) => [name, headers[name] ?? null]);
  const shown = createHash('sha256').update(JSON.stringify(values)).digest('base64url');
  return { ...caller, key: callerVariant(caller.key, shown) };
}
