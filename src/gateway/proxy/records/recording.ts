// Defines the facts about an ended request for metrics, spans, logs and audit.

import type { IncomingMessage } from 'node:http';
import type { AuditSource } from '../../gate/audit.ts';
import type { Ended } from '../entry.ts';
import type { Forwarded } from '../forwarded.ts';
import type { CallSpan } from '../ports.ts';

export interface RecordedCall {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Path without the query. */
  readonly path: string;
  readonly seconds: number;
  readonly span?: CallSpan;
  readonly ended: Ended;
  readonly forwarded: Forwarded;
}

export interface Recording extends RecordedCall {
  readonly source: AuditSource;
}
