// Defines the response of GET /fleet/resource.

import type { LiveDetail } from '../../../../run/fleet-state/detail-format.ts';
import type { ShownOffer } from '../../../../run/fleet-state/offer-format.ts';
import type { RecordedOutcome, RecordedProblem } from '../../../../run/history/ports.ts';

export type DetailedObject = LiveDetail['objects'][number];

export interface ResourceDetail extends LiveDetail {
  readonly resource: string;
  readonly apiVersion: string;
  readonly source?: string;
  readonly commit?: string;
  readonly commitUrl?: string;
  readonly file?: string;
  readonly line?: number;
  /** URL of the line in the file at the commit, if its repository has such pages. */
  readonly fileUrl?: string;
  /** Manifest as YAML. */
  readonly manifest?: string;
  readonly problems: readonly RecordedProblem[];
  readonly changes: readonly RecordedOutcome[];
  /** Set if the resource serves clients. */
  readonly offer?: ShownOffer;
  /** Reason if the cluster could not be read; absent if it was read. */
  readonly unread?: string;
}
