// Reports every ten seconds why a run waits, for a person who watches the run.

import type { ResourceId } from '#std/problem.ts';
import type { Clock } from './ports.ts';
import type { NotReady } from './settle/readiness.ts';

/** Reason of a wait. `leftMs` is its maximum remaining duration in milliseconds. */
export type WaitReason = { readonly leftMs: number } & (
  | {
      readonly for: 'resources';
      readonly resources: readonly NotReady[];
      /** Kinds whose last LIST failed. */
      readonly unlisted: readonly string[];
    }
  /** Another run of the same instance holds the lease. */
  | { readonly for: 'lease'; readonly holder: string }
  /** An object must be deleted before it can be created again. */
  | { readonly for: 'deletion'; readonly resource: ResourceId }
);

export type ReportWaiting = (waiting: WaitReason) => void;

const EVERY_MS = 10_000;

/** Returns a function that calls `report` at most every ten seconds, and not in the first ten seconds. */
export function createReminder(
  { monotonic }: Pick<Clock, 'monotonic'>,
  report: ReportWaiting | undefined,
): ReportWaiting {
  let reportedAt = monotonic();
  return (waiting) => {
    const now = monotonic();
    if (now - reportedAt < EVERY_MS) return;
    reportedAt = now;
    report?.(waiting);
  };
}
