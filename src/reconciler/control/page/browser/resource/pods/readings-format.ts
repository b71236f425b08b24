// Defines the responses of GET /fleet/resource/readings and /fleet/resource/logs.

import type { Logs, Traffic } from '../../../../../run/fleet-state/pods/format.ts';
import type { VirtualServerDocument } from '../virtual-server/document.ts';

export interface ResourceReadings {
  readonly traffic?: Traffic;
  /** Pods whose metrics were not read. */
  readonly pods: readonly { readonly pod: string; readonly why: string }[];
  readonly virtualServer?: VirtualServerDocument;
  readonly virtualServerUnread?: string;
  /** Reason if nothing could be read. */
  readonly unread?: string;
}

export interface ResourceLogs extends Logs {
  /** Reason if nothing could be read. */
  readonly unread?: string;
}
