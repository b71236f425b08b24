// Gathers facts about live objects that are not declared, and determines which of them a run may delete.

import { groupOf, idOf, type KubeObject, keyOf } from '#kubernetes/rules/object.ts';
import type { ResourceId } from '#std/problem.ts';
import { textOfWait } from '#std/words/wait-text.ts';
import { heldOwner } from '../desire/desire.ts';
import type { Compared } from '../diff/compared.ts';
import type { InstanceName, OwnKinds } from '../instance.ts';
import { fieldManager, labelOf, labelValue, OWNER, PART_OF, SOURCE } from '../labels.ts';
import { scopeOf } from '../observe/scope.ts';
import { groupKindOf, type Snapshot } from '../observe/snapshot.ts';
import { listContents } from '../prune/contents.ts';
import { type Deletions, deletionsOf } from '../prune/deletions.ts';
import type { Faults } from '../prune/faults.ts';
import type { DeletionList } from '../prune/guard.ts';
import { listsOf } from '../prune/lists.ts';
import { membershipOf } from '../prune/membership.ts';
import { otherSources } from '../prune/origins.ts';
import { type Referrers, referrersOf } from '../prune/referrers.ts';
import { couldDeclare, withinLimits } from '../prune/within-limits.ts';
import type { Gathered } from '../read/gather.ts';
import { limitsBySource } from '../read/limits.ts';
import { type Approvals, approves, isExpired, readApprovals } from '../records/approval.ts';
import type { InventoryContent } from '../records/inventory.ts';
import { NO_RECORD } from '../records/long-record.ts';
import type { Resolved } from '../resolve/resolve.ts';
import { replacedOf } from './plan.ts';
import type { PlanDeps, PlannedFrom, PlanOptions } from './planned-from.ts';
import type { Waits } from './waits.ts';

export interface PruneInput {
  readonly compared: readonly Compared[];
  readonly surplus: readonly KubeObject[];
  /** All live objects except the records of the instance. */
  readonly live: readonly KubeObject[];
  readonly applied: (object: KubeObject) => boolean;
  readonly applySet: string;
  readonly faults: Faults;
  readonly waits: Waits;
}

export interface Pruned {
  readonly deletions: Deletions;
  readonly lists: readonly DeletionList[];
  readonly approvals: Approvals;
  readonly recorded: InventoryContent;
  readonly referrers: (target: ResourceId) => readonly ResourceId[];
}

export async function prune(
  deps: PlanDeps,
  options: PlanOptions,
  planned: PlannedFrom,
  input: PruneInput,
): Promise<Pruned> {
  const { compared, surplus, live, applied, applySet } = input;
  const { gathered, snapshot, resolved } = planned;
  const { kinds, apiGroup } = options;
  // References are computed only if an object may be deleted.
  const referrers =
    surplus.length === 0 ? NOBODY : referrersOf({ standings: appliedOf(resolved, input.waits), live, kinds, apiGroup });
  const deletions = deletionsFrom(deps, options, planned, input, referrers);
  const owned = live.filter((object) => labelOf(object, PART_OF) === applySet);
  const membership = membershipOf({
    inventory: planned.inventory,
    beforeInventories: planned.parent.beforeInventories,
    owned,
    live,
    applied,
    manager: fieldManager(options.instance),
    apiGroup,
  });
  const found = listsOf({
    going: deletions.going,
    replaced: compared.flatMap((each) => replacedOf(each) ?? []),
    owned,
    recorded: membership.recorded,
    loaded: gathered.loaded,
    sources: deletions.facts.sources,
    faults: input.faults,
    contents: await listContents(deps, snapshot, deletions.going),
    limits: options.limits,
  });
  const others = otherSources(planned.parent.origins);
  const approved = await withApprovals(deps, options, others === undefined ? found : [others, ...found]);
  return { deletions, ...approved, recorded: membership.content, referrers: referrers.living };
}

function deletionsFrom(
  deps: PlanDeps,
  options: PlanOptions,
  { gathered, snapshot, resolved, desires, leftAlone }: PlannedFrom,
  { surplus, live, applied, applySet, waits }: PruneInput,
  referrers: Referrers,
): Deletions {
  const limits = limitsBySource(deps.sources);
  return deletionsOf({
    surplus: surplus.toSorted(byKey),
    leftAlone,
    heldOwners: options.children
      ? desires.heldOwners
      : new Set([...desires.heldOwners, ...othersOwners(live, applySet)]),
    unknownOwnerKinds: unknownOwnerKinds(options, snapshot),
    referrers,
    unknownReferrers: unlisted(options, snapshot),
    staying: [...desires.objects.map(({ id }) => id), ...gathered.invalid],
    heldKeys: heldKeys(gathered, resolved),
    sources: new Set(deps.sources.map(({ name }) => labelValue(name))),
    suspended: gathered.suspended,
    awaiting: new Map([...waits].map(([label, wait]) => [label, textOfWait(wait)])),
    outOfUse: gathered.outOfUse,
    prune: options.prune,
    allows: scopeOf(options.namespaces).allows,
    couldDeclare: couldDeclare(limits),
    withinLimits: withinLimits(limits),
    applied,
    abandoned: abandonedAmong(options, snapshot, live),
  });
}

/**
 * Returns a function that returns true for a child whose owner was deleted. The owner is found by its uid. An owner in
 * foreground deletion is regarded as deleted. A child with a source label is never abandoned, because the source
 * decides about the child.
 */
function abandonedAmong(
  { apiGroup }: OwnKinds,
  snapshot: Snapshot,
  live: readonly KubeObject[],
): (object: KubeObject) => boolean {
  let uids: ReadonlySet<string | undefined> | undefined;
  const uidsStaying = (): ReadonlySet<string | undefined> => {
    const staying = live.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return new Set(staying.map(({ metadata }) => metadata.uid));
  };
  return (object) => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
    if (owner === undefined || labelOf(object, SOURCE) !== undefined || labelOf(object, OWNER) === undefined)
      return false;
    const isOurKind = groupOf(owner.apiVersion) === apiGroup && snapshot.known(groupKindOf(owner));
    if (!isOurKind) return false;
    // Computed on demand, because most runs delete no object.
    uids ??= uidsStaying();
    return !uids.has(owner.uid);
  };
}

/**
 * Returns the resources whose manifests are applied. If a source waits, the references of its live objects are used
 * instead.
 */
function appliedOf({ standings }: Resolved, waits: Waits): Resolved['standings'] {
  return waits.size === 0 ? standings : standings.filter(({ loaded }) => !waits.has(labelValue(loaded.source)));
}

/**
 * Returns the namespaces and owner labels of live resources outside our ApplySet. Another operator creates their
 * children, so children that we created before are kept.
 */
function othersOwners(live: readonly KubeObject[], applySet: string): string[] {
  return live.filter((object) => labelOf(object, PART_OF) !== applySet).map((object) => heldOwner(idOf(object)));
}

/** Adds the approvals to the lists. The approvals are read only if there is a list. */
async function withApprovals(
  deps: PlanDeps,
  options: InstanceName,
  found: readonly DeletionList[],
): Promise<{ readonly lists: readonly DeletionList[]; readonly approvals: Approvals }> {
  if (found.length === 0) return { lists: found, approvals: { all: [], stored: NO_RECORD } };
  const approvals = await readApprovals(deps.cluster, options);
  const lists = found.map((list): DeletionList => {
    const approval = approvals.all.find((each) => approves(each, list));
    if (approval === undefined) return list;
    return isExpired(approval, deps.clock) ? { ...list, expiredAt: approval.expiresAt } : { ...list, approval };
  });
  return { lists, approvals };
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(idOf(a)) < keyOf(idOf(b)) ? -1 : 1;
}

function unknownOwnerKinds({ kinds, apiGroup: group }: OwnKinds, snapshot: Snapshot): ReadonlySet<string> {
  const unknown = kinds.filter(({ kind }) => !snapshot.known({ group, kind }));
  return new Set(unknown.map(({ kind }) => kind.toLowerCase()));
}

const NOBODY: Referrers = { living: () => [], desired: () => [] };

/** Returns the kinds that could not be listed. A kind that the server does not serve has no objects and is left out. */
function unlisted({ kinds, apiGroup: group }: OwnKinds, snapshot: Snapshot): readonly string[] {
  return kinds
    .map(({ kind }) => ({ group, kind }))
    .filter((kind) => snapshot.served(kind) !== undefined && !snapshot.known(kind))
    .map(({ kind }) => kind);
}

/** Returns the keys of invalid resources and of resources that depend on them. */
function heldKeys({ invalid }: Gathered, { standings }: Resolved): ReadonlySet<string> {
  const held = standings.filter(({ health }) => health === 'held').map(({ loaded }) => loaded.id);
  return new Set([...invalid, ...held].map(keyOf));
}
