// Reports the wait of a run every ten seconds, so that a person who watches it need not guess.

import type { ResourceId } from '#std/problem.ts';
import type { Clock } from './ports.ts';
import type { NotReady } from './settle/readiness.ts';

/** Reason of the wait, and its maximum in milliseconds. */
export type Waiting = { readonly leftMs: number } & (
  | {
      readonly for: 'resources';
      readonly resources: readonly NotReady[];
      /** Kinds whose last LIST failed. */
      readonly unlisted: readonly string[];
    }
  /** Another run of the same instance. */
  | { readonly for: 'lease'; readonly holder: string }
  /** An object that has to be deleted before it can be created again. */
  | { readonly for: 'deletion'; readonly resource: ResourceId }
);

export type ReportWaiting = (waiting: Waiting) => void;

const EVERY_MS = 10_000;

/** Returns a function that passes on its argument at most every ten seconds, and not before ten seconds have passed. */
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
