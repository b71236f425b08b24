// Defines the responses for the page about pending decisions: approvals, rollbacks and a pause.

import type { RecentAction, WaitingList, WaitingState } from '../../../../run/fleet-state/waiting-format.ts';

/** `GET /fleet/waiting`. */
export interface Waiting extends WaitingState {
  readonly actions: readonly RecentAction[];
}

/** Answer to the preview of an approval. */
export interface ShownApproval {
  readonly digest: string;
  readonly list: WaitingList;
}

/** Answer to the preview of a rollback. */
export interface ShownRollback {
  readonly digest: string;
  readonly run: string;
  readonly at: string;
  readonly commits: readonly { readonly source: string; readonly good: string; readonly bad: string }[];
  readonly changes: readonly { readonly action: string; readonly resource: string; readonly waits?: true }[];
}

/** Returns the number of approvals, rollbacks and pauses that a person can decide about. */
export function countWaiting({ approvals, rolledBack, paused }: Waiting): number {
  return approvals.length + rolledBack.length + (paused === undefined ? 0 : 1);
}

export function waitingText(count: number): string {
  return count === 1 ? '1 thing waits for you' : `${count} things wait for you`;
}
