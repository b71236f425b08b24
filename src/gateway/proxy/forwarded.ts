// Reads the X-Forwarded headers of a request, if the configuration trusts the senders.

import type { IncomingMessage } from 'node:http';
import { pathPrefix } from '#std/address/address.ts';

export interface Forwarded {
  readonly trusted: boolean;
  /** Headers for the server. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Scheme and authority that the client used. undefined if no trusted X-Forwarded-Proto names the scheme. */
  readonly origin?: string;
  /** Path prefix that a reverse proxy removed, with a leading slash and without a trailing slash. */
  readonly prefix: string;
}

/** Reads the headers. Untrusted headers are replaced by the values of this connection. */
export function readForwarded(request: IncomingMessage, trusted: boolean): Forwarded {
  const peer = request.socket.remoteAddress ?? '';
  const host = request.headers.host ?? '';
  if (!trusted) {
    const headers = { 'x-forwarded-for': peer, 'x-forwarded-host': host, 'x-forwarded-proto': 'http' };
    return { trusted, headers, prefix: '' };
  }
  const chain = headerText(request, 'x-forwarded-for');
  const proto = headerText(request, 'x-forwarded-proto');
  const forwardedHost = headerText(request, 'x-forwarded-host');
  const port = headerText(request, 'x-forwarded-port');
  const prefix = cleanPrefix(headerText(request, 'x-forwarded-prefix'));
  const headers: Record<string, string> = {
    'x-forwarded-for': chain === undefined ? peer : `${chain}, ${peer}`,
    'x-forwarded-host': forwardedHost ?? host,
    'x-forwarded-proto': proto ?? 'http',
  };
  if (port !== undefined) headers['x-forwarded-port'] = port;
  if (prefix !== '') headers['x-forwarded-prefix'] = prefix;
  return { trusted, headers, origin: originOf(proto, forwardedHost ?? host, port), prefix };
}

function headerText(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the origin. Returns undefined if the header values do not form an HTTP origin. */
function originOf(proto: string | undefined, host: string, port: string | undefined): string | undefined {
  if (proto === undefined) return undefined;
  const authority = port === undefined || /:\d+$/.test(host) ? host : `${host}:${port}`;
  const url = URL.parse(`${proto}://${authority}`);
  const plain =
    url !== null && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.username === '';
  return plain ? url.origin : undefined;
}

/** Returns the prefix, or an empty text if the value is not a path. */
export function cleanPrefix(prefix: string | undefined): string {
  return pathPrefix(prefix ?? '') ?? '';
}
