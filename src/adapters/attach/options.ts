// Options for attaching to a container.

import type { ConnectionOptions } from 'node:tls';
import type { BackendClock } from '#gateway/backends/ports.ts';
import type { Failure } from '#std/failure.ts';

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
   * v4 goes to the node itself, so that a dead node is noticed; with v5 the API server stands between and answers pings for
   * the node. Absent: v4, else v5.
   */
  readonly protocols?: readonly AttachProtocol[];
  /** If set, closing deletes the pod, so that its StatefulSet creates another; a failure of that is reported here. */
  readonly replacePod?: { failed(failure: Failure): void };
  /** 10 s. */
  readonly connectMs?: number;
  /** Between two pings; 5 s. */
  readonly pingMs?: number;
  /** Nothing came for so long, no answer to a ping either: the connection is dead; 20 s. */
  readonly silentMs?: number;
}
