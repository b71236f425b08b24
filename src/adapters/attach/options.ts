// Defines the options for attaching to a container.

import type { ConnectionOptions } from 'node:tls';
import type { BackendClock } from '#gateway/backends/ports.ts';
import type { Failure } from '#std/failure.ts';

/** Subprotocols of Kubernetes, the preferred one first. */
export type AttachProtocol = 'v4.channel.k8s.io' | 'v5.channel.k8s.io';

export interface AttachCredentials {
  /** `authorization`, impersonation; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'
  >;
}

export interface AttachOptions {
  /** URL of the API server, possibly with a path, without a slash at the end. */
  readonly server: string;
  readonly namespace: string;
  /** Name of the pod with this index. */
  readonly pod: (index: number) => string;
  readonly container: string;
  /** Returns credentials. They are read before every connection, because tokens rotate. */
  readonly credentials: () => Promise<AttachCredentials>;
  readonly clock: Pick<BackendClock, 'after' | 'monotonic'>;
  /**
   * v4 connects to the node itself, so that a dead node is noticed. With v5 the API server is in between and answers
   * pings for the node. Default: v4, else v5.
   */
  readonly protocols?: readonly AttachProtocol[];
  /** If set, closing deletes the pod, so that its StatefulSet creates another. `failed` receives a failed deletion. */
  readonly replacePod?: { failed(failure: Failure): void };
  /** Default: 10 s. */
  readonly connectMs?: number;
  /** Time between two pings. Default: 5 s. */
  readonly pingMs?: number;
  /** Time without any data or answer to a ping after which the connection counts as dead. Default: 20 s. */
  readonly silentMs?: number;
}
