// Defines the options for attaching to a container.

import type { ConnectionOptions } from 'node:tls';
import type { BackendClock } from '#gateway/backends/ports.ts';
import type { Failure } from '#std/failure.ts';

export type AttachProtocol = 'v4.channel.k8s.io' | 'v5.channel.k8s.io';

export interface AttachCredentials {
  /** `authorization` and impersonation headers. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername'
  >;
}

export interface AttachOptions {
  /** URL of the API server, possibly with a path, without a trailing slash. */
  readonly server: string;
  readonly namespace: string;
  /** Returns the name of the pod with this index. */
  readonly pod: (index: number) => string;
  readonly container: string;
  /** Returns credentials. Called before every connection, because tokens rotate. */
  readonly credentials: () => Promise<AttachCredentials>;
  readonly clock: Pick<BackendClock, 'after' | 'monotonic'>;
  /**
   * Subprotocols in order of preference. Default: v4, then v5. With v4 the node answers pings, so a dead node is
   * detected. With v5 the API server answers pings for the node.
   */
  readonly protocols?: readonly AttachProtocol[];
  /**
   * If set, the end of a session deletes its pod, so that the StatefulSet creates a new pod. `failed` receives the
   * failure of a deletion.
   */
  readonly replacePod?: { failed(failure: Failure): void };
  /** Timeout for connecting in milliseconds. Default: 10 s. */
  readonly connectMs?: number;
  /** Interval of pings in milliseconds. Default: 5 s. */
  readonly pingMs?: number;
  /** Milliseconds without data or pong after which the connection is closed. Default: 20 s. */
  readonly silentMs?: number;
}
