// Keeps the connections to the API server for as long as certificates and proxy stay the same.

import { createSecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { loadProxyAgent, Pool } from '../http/undici.ts';
import type { CredentialSource, Credentials } from './credentials.ts';

export interface ConnectionOptions {
  readonly credentials: CredentialSource;
  /** Maximum of connections; default: no limit. */
  readonly connections?: number;
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  /** If set, answers may last without end, as for watches. */
  readonly endless?: true;
}

export interface Connections {
  /** Returns connections for these credentials. Throws if a certificate or key cannot be read. */
  for(credentials: Credentials): Dispatcher;
  close(): Promise<void>;
}

/** Opens connections that stay while certificates and proxy stay the same. A new token needs no new connection. */
export function openConnections(options: ConnectionOptions, closing: AbortSignal): Connections {
  let opened: { readonly with: Credentials; readonly dispatcher: Dispatcher } | undefined;
  return {
    for: (credentials) => {
      if (opened !== undefined && opened.with.connection === credentials.connection) return opened.dispatcher;
      const dispatcher = dispatcherFor(options, credentials);
      // Requests under way on the old connections may still end.
      opened?.dispatcher.close().catch(() => undefined);
      opened = { with: credentials, dispatcher };
      if (closing.aborted) dispatcher.destroy().catch(() => undefined);
      return dispatcher;
    },
    close: async () => {
      await opened?.dispatcher.destroy();
    },
  };
}

function dispatcherFor(
  { credentials, connections, timeoutMs, endless }: ConnectionOptions,
  { tls, proxy }: Credentials,
): Dispatcher {
  const limits = {
    connections: connections ?? null,
    allowH2: false,
    keepAliveTimeout: 30_000,
    // Each request has its own time limit.
    headersTimeout: timeoutMs * 2,
    bodyTimeout: endless === true ? 0 : timeoutMs * 2,
  };
  // Certificates and keys are read once, not for each connection.
  const secure = credentials.origin.startsWith('https:') ? { ...tls, secureContext: createSecureContext(tls) } : {};
  const connect = { ...secure, allowH2: false, timeout: Math.min(10_000, timeoutMs) };
  if (proxy === undefined) return new Pool(credentials.origin, { ...limits, connect });
  const ProxyAgent = loadProxyAgent();
  return new ProxyAgent({ ...limits, uri: proxy, requestTls: connect });
}
