// Keeps connections to the API server open while certificates and proxy are unchanged.

import { createSecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { loadProxyAgent, Pool } from '../http/undici.ts';
import type { ClusterCredentials, CredentialSource } from './credentials.ts';

export interface ConnectionOptions {
  readonly credentials: CredentialSource;
  /** Maximum number of connections. Default: no limit. */
  readonly connections?: number;
  /** Timeout of a response in milliseconds. */
  readonly timeoutMs: number;
  /** If set, responses have no time limit, as watches require. */
  readonly endless?: true;
}

export interface Connections {
  /** Returns the connection pool for these credentials. Throws if a certificate or key cannot be read. */
  for(credentials: ClusterCredentials): Dispatcher;
  close(): Promise<void>;
}

/** Opens a pool that is replaced when certificates or proxy change. A new token needs no new pool. */
export function openConnections(options: ConnectionOptions, closing: AbortSignal): Connections {
  let opened: { readonly with: ClusterCredentials; readonly dispatcher: Dispatcher } | undefined;
  return {
    for: (credentials) => {
      if (opened !== undefined && opened.with.connection === credentials.connection) return opened.dispatcher;
      const dispatcher = dispatcherFor(options, credentials);
      // Running requests on the old connections may still complete.
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
  { tls, proxy }: ClusterCredentials,
): Dispatcher {
  const limits = {
    connections: connections ?? null,
    allowH2: false,
    keepAliveTimeout: 30_000,
    // `exchange` enforces the timeout of each request.
    headersTimeout: timeoutMs * 2,
    bodyTimeout: endless === true ? 0 : timeoutMs * 2,
  };
  // Parses certificates and keys once instead of for each connection.
  const secure = credentials.origin.startsWith('https:') ? { ...tls, secureContext: createSecureContext(tls) } : {};
  const connect = { ...secure, allowH2: false, timeout: Math.min(10_000, timeoutMs) };
  if (proxy === undefined) return new Pool(credentials.origin, { ...limits, connect });
  const ProxyAgent = loadProxyAgent();
  return new ProxyAgent({ ...limits, uri: proxy, requestTls: connect });
}
