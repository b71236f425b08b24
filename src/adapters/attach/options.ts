// What attaching to a container needs to know.

import type { ConnectionOptions } from 'node:tls';
import type { BackendClock } from '../../backends/ports.ts';

/** Subprotocols of Kubernetes, the wanted one first. */
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
  /** Asked before every connection: tokens rotate. */
  readonly credentials: () => Promise<AttachCredentials>;
  readonly clock: Pick<BackendClock, 'after' | 'monotonic'>;
  /**
   * v4 goes to the node itself, so that a dead node is noticed; with v5 the API server stands between, answers pings for
   * the node, and can end the container's input alone. Absent: v4, else v5.
   */
  readonly protocols?: readonly AttachProtocol[];
  /** Closing ends the container's input (with v5), so that the server ends and its container is started again. */
  readonly endInput?: boolean;
  /** 10 s. */
  readonly connectMs?: number;
  /** Between two pings; 5 s. */
  readonly pingMs?: number;
  /** Nothing came for so long, no answer to a ping either: the connection is dead; 20 s. */
  readonly silentMs?: number;
}
