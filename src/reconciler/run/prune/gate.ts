// Stops deletions after failed writes: if an object of a source could not be applied, other objects of the source are
// deleted only with approval.

import type { Change, Plan } from '../plan/plan.ts';
import { failedFaults, faultReason, type OutcomeOfResource } from './faults.ts';
import { listsByUid } from './lists.ts';
import { sourceOf } from './may-delete.ts';

/** Returns why a deletion must not be made now; undefined if the deletion is allowed. Called after all writes. */
export type Gate = (change: Change) => { readonly code: string; readonly message: string } | undefined;

export function gateOf({ batches, approved, within }: Plan, outcomes: readonly OutcomeOfResource[]): Gate {
  const sources = new Map(
    batches.flatMap(({ changes }) =>
      changes.map((each) => [each.key, each.action === 'delete' ? undefined : sourceOf(each.object)]),
    ),
  );
  const lists = listsByUid([...approved, ...within]);
  const faults = failedFaults(outcomes, (key) => sources.get(key));
  return (change) => {
    const list = change.action === 'delete' ? lists.get(change.uid) : undefined;
    const found = list === undefined || list.approval !== undefined ? undefined : faults.get(list.source);
    if (list === undefined || found === undefined) return undefined;
    const source = list.source === '' ? '' : ` of source ${list.source}`;
    const message = `nothing${source} is deleted now: ${faultReason(found)}. Correct that, or delete the waiting objects all the same: skep approve ${list.hash}`;
    return { code: 'source-at-fault', message };
  };
}
