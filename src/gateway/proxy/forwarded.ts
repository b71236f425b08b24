// Who asks through what: the X-Forwarded headers of a request, believed only where the configuration trusts those who send
// them.

import type { IncomingMessage } from 'node:http';
import { pathPrefix } from '#std/address/address.ts';

export interface Forwarded {
  readonly trusted: boolean;
  /** Of what goes on to the server. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Scheme and authority that the client used; undefined where only the Host header could say. */
  readonly origin?: string;
  /** Path that a reverse proxy has taken away, with a slash at its beginning and none at its end. */
  readonly prefix: string;
}

/** Without trust none of the headers has an effect, and the server gets what this connection shows. */
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

/** Undefined where the headers are no origin: they may say anything. */
function originOf(proto: string | undefined, host: string, port: string | undefined): string | undefined {
  if (proto === undefined) return undefined;
  const authority = port === undefined || /:\d+$/.test(host) ? host : `${host}:${port}`;
  const url = URL.parse(`${proto}://${authority}`);
  const plain =
    url !== null && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.username === '';
  return plain ? url.origin : undefined;
}

/** A prefix that is not a path counts as none. */
export function cleanPrefix(prefix: string | undefined): string {
  return pathPrefix(prefix ?? '') ?? '';
}
