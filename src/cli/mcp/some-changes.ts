// Leaves out changes of a plan that a result does not show.

import type { Change, Plan } from '#reconciler/run/plan/plan.ts';

/** Returns the plan with the changes that `shows` selects, without the batches that have none of them. */
export function withChanges(plan: Plan, shows: (change: Change) => boolean): Plan {
  const batches = plan.batches
    .map((batch) => ({ ...batch, changes: batch.changes.filter(shows) }))
    .filter(({ changes }) => changes.length > 0);
  return { ...plan, batches };
}
