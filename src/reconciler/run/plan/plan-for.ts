// Gathers what a plan is made of: what is desired beside what exists, and every reason for which something stays.

import { idOf } from '#kubernetes/rules/object.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import { type FoundField, fieldsFound, problemsOf } from '../diff/conceded.ts';
import { diff } from '../diff/diff.ts';
import { type Previews, preview } from '../diff/preview.ts';
import { applySetId, fieldManager } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import { readMergeTypes } from '../observe/merge-types.ts';
import { groupKindOf } from '../observe/snapshot.ts';
import { withholdAll } from '../plan-file/admission.ts';
import { isLeftAlone } from '../prune/left-alone.ts';
import { isOfOthers } from '../prune/origins.ts';
import { replaceBars } from '../prune/replacement.ts';
import type { Approvals } from '../records/approval.ts';
import { isRecord } from '../records/home-record.ts';
import type { InventoryContent } from '../records/inventory.ts';
import { accountsOf } from './accounts.ts';
import { plan as makePlan, type Plan } from './plan.ts';
import type { PlanDeps, PlannedFrom, PlanOptions } from './planned-from.ts';
import { prune } from './prune.ts';
import { rankOf } from './rank.ts';

export interface Planned {
  readonly plan: Plan;
  readonly approvals: Approvals;
  /** What the instance has created, as far as it is recorded. */
  readonly recorded: InventoryContent;
  /** Fields that other managers have set to other values. */
  readonly fields: readonly FoundField[];
  /** Of them, what differs from Git. */
  readonly problems: readonly Problem[];
  readonly previews: Previews;
}

export async function planFor(deps: PlanDeps, options: PlanOptions, input: PlannedFrom): Promise<Planned> {
  const { gathered, snapshot } = input;
  const applySet = applySetId(options.instance, options.homeNamespace);
  const manager = fieldManager(options.instance);
  const force = options.conflicts === 'force';
  // What the instance keeps for itself is none of its set, whatever labels someone gives it.
  const live = snapshot.objects().filter((object) => !isRecord(options, idOf(object)));
  const desired = comparableOf(input);
  const typeOf = await readMergeTypes(
    deps.cluster,
    desired.map(({ id }) => id),
  );
  const { compared, surplus } = diff({ desired, living: snapshot.find, live, typeOf, manager, applySet, force });
  const applied = appliedBy(options.instance);
  const accountOf = accountsOf(deps.sources);
  const previewed = await preview(deps, {
    compared,
    manager,
    force,
    accountOf,
    living: snapshot.find,
    replaceBar: replaceBars({ loaded: gathered.loaded, applySet, applied, prune: options.prune }),
    before: input.previews,
    // Whoever reads a plan, or has signed one, is to know of each change.
    sampled: input.mode === 'sync' && options.admit === undefined,
  });
  const going = { compared: previewed.compared, surplus, live, applied, applySet };
  const { recorded, approvals, deletions, lists, referrers } = await prune(deps, options, input, going);
  const whole = makePlan({
    compared: previewed.compared,
    deletions,
    lists,
    leaving: recorded.leaving,
    referrers,
    accountOf,
    rank: rankOf(options.kinds, options.apiGroup),
  });
  const own = isOfOthers(whole.waiting) ? withholdAll(whole, 'sources-unknown', OF_OTHERS) : whole;
  const plan = options.admit === undefined ? own : options.admit(own, snapshot.find);
  const fields = fieldsFound(previewed.compared);
  const problems = problemsOf(fields, gathered.loaded, manager);
  return { plan, recorded, approvals, fields, problems, previews: previewed.previews };
}

/** A child whose owner may or may not exist is left alone: without the owner's uid it would lose its owner reference. */
function comparableOf({ snapshot, desires }: PlannedFrom): OwnDesires['objects'] {
  const known = (id: ResourceId): boolean => snapshot.known(groupKindOf(id));
  return desires.objects.filter(
    ({ id, owner }) => known(id) && (owner === undefined || (known(owner) && !isLeftAlone(snapshot.find(id)))),
  );
}

const OF_OTHERS = 'this instance has read none of these sources before: nothing is written until that is approved';
