// Removes changes from a plan, for results that show only some of its changes.

import type { Change, Plan } from '#reconciler/run/plan/plan.ts';

/** Returns the plan with the changes for which `shows` returns true. Empty batches are removed. */
export function withChanges(plan: Plan, shows: (change: Change) => boolean): Plan {
  const batches = plan.batches
    .map((batch) => ({ ...batch, changes: batch.changes.filter(shows) }))
    .filter(({ changes }) => changes.length > 0);
  return { ...plan, batches };
}
