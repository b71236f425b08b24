// Gathers the input of a plan: desired objects, live objects, and every reason why an object stays unchanged.

import assert from 'node:assert/strict';
import { idOf } from '#kubernetes/rules/object.ts';
import type { Problem, ResourceId } from '#std/problem.ts';
import { textOfWait } from '#std/words/wait-text.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import { type Compared, isToBeWritten } from '../diff/compared.ts';
import { type FoundField, fieldsFound, problemsOf } from '../diff/conceded.ts';
import { diff } from '../diff/diff.ts';
import { type Previews, preview } from '../diff/preview.ts';
import { applySetId, fieldManager } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import { readMergeTypes } from '../observe/merge-types.ts';
import { groupKindOf } from '../observe/snapshot.ts';
import { withholdAll } from '../plan-file/admission.ts';
import type { Held } from '../prune/deletions.ts';
import { faultsOf } from '../prune/faults.ts';
import { isLeftAlone } from '../prune/left-alone.ts';
import { sourceOf } from '../prune/may-delete.ts';
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
import { NO_WAITS, type Waits, type WaitsInput, waitsOf } from './waits.ts';

export interface Planned {
  readonly plan: Plan;
  readonly approvals: Approvals;
  readonly recorded: InventoryContent;
  /** Fields that other managers have set to values other than the declared ones. */
  readonly fields: readonly FoundField[];
  /** Problems with fields that differ from Git. */
  readonly problems: readonly Problem[];
  readonly previews: Previews;
  readonly waits: Waits;
  /** Keys of objects that differ and are kept unchanged because their source waits. */
  readonly awaiting: ReadonlySet<string>;
}

export async function planFor(deps: PlanDeps, options: PlanOptions, input: PlannedFrom): Promise<Planned> {
  const { gathered, snapshot } = input;
  const applySet = applySetId(options.instance, options.homeNamespace);
  const manager = fieldManager(options.instance);
  const force = options.conflicts === 'force';
  // Records of the instance are never members of its ApplySet, even if a person adds our labels to them.
  const live = snapshot.objects().filter((object) => !isRecord(options, idOf(object)));
  const desired = comparableOf(input);
  const ids = desired.map(({ id }) => id);
  const typeOf = await readMergeTypes(deps.cluster, ids);
  const { find: living } = snapshot;
  const { compared, surplus } = diff({ desired, living, live, typeOf, manager, applySet, force, reuse: deps.reuse });
  const applied = appliedBy(options.instance);
  const accountOf = accountsOf(deps.sources);
  const previewed = await preview(deps, {
    compared,
    manager,
    force,
    accountOf,
    living,
    replaceBar: replaceBars({ loaded: gathered.loaded, applySet, applied, prune: options.prune }),
    before: input.previews,
    // A plan that a person reads or signs must contain a dry run of each change.
    sampled: input.mode === 'sync' && options.admit === undefined,
  });
  const { resolved, desires, leftAlone } = input;
  const faults = faultsOf({ gathered, resolved, compared: previewed.compared, foreign: desires.problems, leftAlone });
  const waits = waitsNow(deps, options, input, { faults, compared: previewed.compared });
  const [awaiting, free] = partition(previewed.compared, (each) => isAwaiting(waits, each));
  const going = { compared: free, surplus, live, applied, applySet, faults, waits };
  const { recorded, approvals, deletions, lists, referrers } = await prune(deps, options, input, going);
  const whole = makePlan({
    compared: free,
    awaiting: awaiting.map((each) => heldByWait(waits, each)),
    deletions,
    lists,
    leaving: recorded.leaving,
    referrers,
    accountOf,
    rank: rankOf(options.kinds, options.apiGroup),
  });
  const own = isOfOthers(whole.waiting) ? withholdAll(whole, 'sources-unknown', OF_OTHERS) : whole;
  const plan = options.admit === undefined ? own : options.admit(own, snapshot.find);
  const fields = fieldsFound(free);
  const problems = problemsOf(fields, gathered.loaded, manager);
  const { previews } = previewed;
  const keys = new Set(awaiting.map(({ desired }) => desired.key));
  return { plan, recorded, approvals, fields, problems, previews, waits, awaiting: keys };
}

/**
 * Returns the waiting sources. Includes the sources in `waits`, because their registries were not synced for this plan.
 */
function waitsNow(
  { sources }: PlanDeps,
  { children }: PlanOptions,
  { waits = NO_WAITS, ...input }: PlannedFrom,
  found: Pick<WaitsInput, 'faults' | 'compared'>,
): Waits {
  return new Map([...waitsOf({ ...input, ...found, sources, ownStatuses: children }), ...waits]);
}

function isAwaiting(waits: Waits, compared: Compared): boolean {
  return isToBeWritten(compared) && waits.has(sourceOf(compared.desired.object));
}

function heldByWait(waits: Waits, { desired: { id: resource, object, owner } }: Compared): Held {
  const wait = waits.get(sourceOf(object));
  assert(wait !== undefined, 'only an object of a waiting source is held by a wait');
  return { resource, owner, reason: textOfWait(wait) };
}

function partition<T>(all: readonly T[], has: (each: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(has), all.filter((each) => !has(each))];
}

/**
 * Leaves out objects of kinds that were not listed completely, and children that are marked to be left alone. Also
 * leaves out a child if it is unknown whether its owner exists. Without the uid of the owner, an apply would remove the
 * owner reference.
 */
function comparableOf({ snapshot, desires }: PlannedFrom): OwnDesires['objects'] {
  const kinds = new Map<string, boolean>();
  const known = ({ apiVersion, kind }: ResourceId): boolean => {
    const name = `${apiVersion} ${kind}`;
    const isKnown = kinds.get(name) ?? snapshot.known(groupKindOf({ apiVersion, kind }));
    kinds.set(name, isKnown);
    return isKnown;
  };
  return desires.objects.filter(
    ({ id, owner }) => known(id) && (owner === undefined || (known(owner) && !isLeftAlone(snapshot.find(id)))),
  );
}

const OF_OTHERS = 'this instance has read none of these sources before: nothing is written until that is approved';
