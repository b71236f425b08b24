// Decides which headers of a client reach the server, if a configuration names them, and how they distinguish callers.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { passthroughFault } from '#contracts/virtual/passthrough-headers.ts';
import { callerVariant } from '../../backends/caller-key.ts';
import { configFault } from '../../credentials/config-fault.ts';
import { settableHeader } from '../../credentials/header-rules.ts';
import { HEADERS, PARAM_HEADER_PREFIX } from '../../wire/headers.ts';
import type { Caller } from '../caller.ts';

/** Names of headers in lower case. */
export type ClientHeaders = ReadonlySet<string>;

/** Reads the names of the headers. Throws Failure `credential-config-invalid` for a header that must not be passed. */
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

/** Headers that belong to one message or one span. */
const OF_ONE_MESSAGE: ReadonlySet<string> = new Set([
  ...['accept', 'content-type', 'content-length', 'traceparent', 'tracestate', HEADERS.lastEventId],
  ...[HEADERS.sessionId, HEADERS.protocolVersion, HEADERS.method, HEADERS.name],
]);

/** Other headers of HTTP itself, and headers that the proxy reads and changes. */
const PROTOCOL: ReadonlySet<string> = new Set([
  ...['accept-language', 'user-agent', 'baggage', 'connection', 'host', 'authorization'],
]);

function isOfOneMessage(name: string): boolean {
  return OF_ONE_MESSAGE.has(name) || name.startsWith(PARAM_HEADER_PREFIX);
}

/** Removes headers that are not named. */
export function keepClientHeaders(headers: IncomingHttpHeaders, named: ClientHeaders): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => {
    return PROTOCOL.has(name) || isOfOneMessage(name) || named.has(name);
  });
  return Object.fromEntries(kept);
}

/**
 * Returns a caller whose key includes the values of the named headers: sessions, lists and tokens of one value are not
 * used for another, since a server may distinguish callers by these headers alone. Headers of a single message do not
 * count, since each message would otherwise have another caller.
 */
export function callerWithHeaders(caller: Caller, headers: IncomingHttpHeaders, named: ClientHeaders): Caller {
  const counted = [...named].filter((name) => !isOfOneMessage(name)).sort();
  if (counted.length === 0) return caller;
  const values = counted.map((name) => [name, headers[name] ?? null]);
  const shown = createHash('sha256').update(JSON.stringify(values)).digest('base64url');
  return { ...caller, key: callerVariant(caller.key, shown) };
}
