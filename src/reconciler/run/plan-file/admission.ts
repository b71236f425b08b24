// Reduces a new plan to the changes that a plan file contains. An admission never adds a change.

import { type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Fingerprints } from '../diff/fingerprints.ts';
import type { Change, Plan, Withheld } from '../plan/plan.ts';
import type { PlanFile, PlannedChange } from './format.ts';
import { plannedChange } from './plan-file.ts';

/** Returns the part of a plan that the run may carry out. */
export type Admission = (plan: Plan, living: (id: ResourceId) => KubeObject | undefined) => Plan;

/** Admits the changes in the file that are still as planned. If one change is stale, admits no deletion. */
export function admitPlanned(file: Pick<PlanFile, 'batches' | 'createdAt'>, prints: Fingerprints): Admission {
  return (plan, living) => {
    const planned = new Map(file.batches.flatMap(({ changes }) => changes).map((each) => [keyOf(each.resource), each]));
    const fresh = new Map(plan.batches.flatMap(({ changes }) => changes).map((each) => [each.key, each]));
    const stale = [...planned].flatMap(([key, each]): Withheld[] => {
      const reason = staleReason({ file, prints, plan, living }, each, fresh.get(key));
      return reason === undefined ? [] : [withheldOf(each, 'failed', 'plan-stale', reason)];
    });
    const staleKeys = new Set(stale.map(({ resource }) => keyOf(resource)));
    const others = [...fresh.values()].flatMap((change): Withheld[] => {
      if (staleKeys.has(change.key)) return [];
      if (!planned.has(change.key)) return [withheldOf(change, 'held', 'plan-other', NOT_PLANNED)];
      if (stale.length === 0 || !deletes(change)) return [];
      return [withheldOf(change, 'held', 'plan-other', NO_DELETION)];
    });
    return withhold(plan, [...stale, ...others]);
  };
}

/** Admits no change. `reason` says how changes are made without this run. */
export function admitNothing(reason: string): Admission {
  return (plan) => withholdAll(plan, 'plan-required', reason);
}

export function withholdAll(plan: Plan, code: string, message: string): Plan {
  const changes = plan.batches.flatMap((batch) => batch.changes);
  const known = new Set((plan.withheld ?? []).map(({ resource }) => keyOf(resource)));
  const fresh = changes.filter(({ key }) => !known.has(key));
  return withhold(plan, [
    ...(plan.withheld ?? []),
    ...fresh.map((change) => withheldOf(change, 'held', code, message)),
  ]);
}

/**
 * Admits the changes in a plan that this run has admitted before. That plan was computed before the key of digests
 * existed; the changes are now rendered with the key.
 */
export function admitAgain({ batches, withheld = [] }: Plan): Admission {
  return (plan) => {
    const admitted = new Map(batches.flatMap(({ changes }) => changes).map(({ key, action }) => [key, action]));
    const known = new Set(withheld.map(({ resource }) => keyOf(resource)));
    const fresh = plan.batches.flatMap((batch) => batch.changes);
    const others = fresh
      .filter(({ key, action }) => admitted.get(key) !== action && !known.has(key))
      .map((change) => withheldOf(change, 'held', 'plan-other', NOT_PLANNED));
    return withhold(plan, [...withheld, ...others]);
  };
}

const NOT_PLANNED = 'it is not in the plan that is applied: the next plan has it';
const NO_DELETION = 'a plan of which something is stale deletes nothing: plan again';

/** Returns true for deletions and replacements. */
function deletes(change: Change): boolean {
  return change.action === 'delete' || change.replaces === true;
}

interface AdmissionInput {
  readonly file: Pick<PlanFile, 'createdAt'>;
  readonly prints: Fingerprints;
  readonly plan: Plan;
  readonly living: (id: ResourceId) => KubeObject | undefined;
}

/**
 * Returns why the change is stale. undefined if the change can be made as planned, or was made already: an interrupted
 * plan can thus be applied again.
 */
function staleReason(look: AdmissionInput, planned: PlannedChange, fresh: Change | undefined): string | undefined {
  const live = look.living(planned.resource);
  if (fresh === undefined) return reasonOfAbsence(look, planned, live);
  if (fresh.action !== planned.action) return reasonOfAction(planned, fresh);
  if (fresh.uid !== planned.uid) return 'it was deleted and created again since: it has another uid';
  const now = plannedChange(look.prints, look.living, fresh);
  if (now.replaces !== planned.replaces) return 'whether it has to be deleted and created again has changed';
  if (now.desired !== planned.desired)
    return 'it would be created differently now: something that it reads, or its owner, has changed';
  if (now.seen === planned.seen) return undefined;
  return `its fields have changed since${who(look.file, live)}; now these differ: ${(now.fields ?? []).join(', ') || 'none'}`;
}

function reasonOfAction(planned: PlannedChange, fresh: Change): string {
  switch (planned.action) {
    case 'create':
      return 'it was to be created, and exists now';
    case 'update':
      return fresh.action === 'create'
        ? 'it was to be updated, and was deleted since'
        : 'it was to be updated, and is to be deleted now';
    case 'delete':
      return `it was to be deleted, and now it is to be ${fresh.action === 'create' ? 'created' : 'updated'}`;
  }
}

function reasonOfAbsence({ plan }: AdmissionInput, { action, resource }: PlannedChange, live: KubeObject | undefined) {
  const key = keyOf(resource);
  const held = plan.held.find((each) => keyOf(each.resource) === key);
  if (held?.leaving === true && action === 'delete') return undefined;
  if (held !== undefined) return `it is kept unchanged now: ${held.reason}`;
  if (action === 'delete')
    return live === undefined ? undefined : 'it was to be deleted, and does not belong to this instance any more';
  const done = plan.unchanged.some((each) => keyOf(each) === key);
  return done ? undefined : 'its manifest, or its owner, is not applied now: the problems of this run say why';
}

/**
 * Returns a clause with the manager that wrote last to the object after the plan was created; empty without such a
 * write.
 */
function who({ createdAt }: Pick<PlanFile, 'createdAt'>, live: KubeObject | undefined): string {
  // The server rounds times of managed fields down to whole seconds.
  const since = Math.floor(Date.parse(createdAt) / 1000) * 1000;
  const later = (live?.metadata.managedFields ?? []).filter(
    ({ time, subresource }) => subresource === undefined && time !== undefined && Date.parse(time) >= since,
  );
  const last = later.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0];
  return last === undefined ? '' : ` (by ${last.manager} at ${last.time})`;
}

function withheldOf(
  change: Pick<PlannedChange, 'action' | 'resource' | 'owner'> | Change,
  action: Withheld['action'],
  code: string,
  message: string,
): Withheld {
  const owner = 'owner' in change ? change.owner : undefined;
  const { resource } = change;
  return {
    action,
    resource,
    deletion: change.action === 'delete',
    owner,
    error: { code, message },
  };
}

/** Moves changes to `withheld`. An approved list stays in the plan only if one of its objects is still deleted. */
function withhold(plan: Plan, withheld: readonly Withheld[]): Plan {
  if (withheld.length === 0) return plan;
  const out = new Set(withheld.map(({ resource }) => keyOf(resource)));
  const batches = plan.batches
    .map(({ name, changes }) => ({ name, changes: changes.filter(({ key }) => !out.has(key)) }))
    .filter(({ changes }) => changes.length > 0);
  const going = new Set(batches.flatMap(({ changes }) => changes.filter(deletes).map(({ uid }) => uid)));
  const approved = plan.approved.filter(({ deletions }) => deletions.some(({ uid }) => going.has(uid)));
  return { ...plan, batches, withheld, approved };
}
