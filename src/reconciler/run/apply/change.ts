// Makes the changes of one plan. Before the first change, the ApplySet parent declares each kind and namespace that may
// get members. An approval is marked as begun before its deletions, and removed after its deletions.

import { keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { emptyCatalogue } from '../catalogue/departed-registry.ts';
import type { RegistryDeps } from '../catalogue/registries.ts';
import type { OwnDesires } from '../desire/foreign.ts';
import type { InstanceName, OwnKinds, Permissions } from '../instance.ts';
import { type Extent, sameExtent, union } from '../observe/applyset.ts';
import type { Observed } from '../observe/observe.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import { openViews } from '../observe/view.ts';
import type { Plan } from '../plan/plan.ts';
import type { Clock, Cluster } from '../ports.ts';
import type { DeletionList } from '../prune/guard.ts';
import { sameOrigins } from '../prune/origins.ts';
import { type Approvals, beginApproved, spendApprovals } from '../records/approval.ts';
import { type Inventory, type InventoryContent, storeInventory } from '../records/inventory.ts';
import { type ApplyDeps, apply, type ChangeOutcome } from './apply.ts';
import { declareExtent, exactExtent } from './extent.ts';
import { contentAfter, contentBefore, sameContent } from './recorded.ts';
import { SUSPENDED } from './suspension-watch.ts';

export interface ChangeDeps extends ApplyDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** If absent, catalogues of deleted registries are not emptied. */
  readonly registries?: RegistryDeps;
}

export interface ChangeOptions extends InstanceName, OwnKinds, Pick<Permissions, 'conflicts'> {
  /** Name and version of skep, for the ApplySet parent: `name/version`. */
  readonly tooling: string;
  readonly id: string;
}

interface Changing extends Pick<Observed, 'snapshot' | 'parent' | 'inventory'> {
  readonly recorded: InventoryContent;
  readonly desires: OwnDesires;
  readonly plan: Plan;
  readonly approvals: Approvals;
}

export interface Changed {
  readonly outcomes: readonly ChangeOutcome[];
  /** Kinds and namespaces that the ApplySet parent declares while the run writes. */
  readonly superset: Extent;
  /** Records the changes; must be called once. Resolves with the failures of writing the record. */
  readonly record: () => Promise<readonly Failure[]>;
}

export async function makeChanges(deps: ChangeDeps, options: ChangeOptions, planned: Changing): Promise<Changed> {
  const { plan, snapshot, parent, inventory } = planned;
  const { cluster } = deps;
  const content = contentBefore({ ...planned, run: options.id, content: planned.recorded });
  const changes = plan.batches.length > 0 && !(parent.marked && sameContent(content, inventory));
  // The inventory is stored before the parent refers to it.
  const recorded = changes ? await storeInventory(cluster, options, inventory, content) : inventory;
  const before = parent.extent;
  const superset = union(exactExtent(options, planned), before);
  if ((changes && !parent.marked) || !sameOrigins(parent.origins) || !sameExtent(superset, before))
    await declareExtent(deps, options, planned, superset);

  const approved = listsOf(plan).flatMap(({ approval }) => approval?.hash ?? []);
  const begun = await beginApproved(deps, options, planned.approvals, new Set(approved));
  const outcomes = await apply(
    { ...deps, cluster: { ...cluster, remove: withCatalogues(deps, options, snapshot) } },
    { plan, uids: ownersUids(plan, snapshot), force: options.conflicts === 'force', run: options.id },
  );
  async function record(): Promise<readonly Failure[]> {
    const unrecorded = await recordAfter(deps, options, recorded, outcomes);
    const unspent = await spendApprovals(cluster, options, begun, spentOf(plan, outcomes));
    // If the instance was suspended, the missing record is not a failure: the next run recognises the changes by the id
    // of this run.
    return [...unrecorded, ...unspent].filter(({ code }) => code !== SUSPENDED);
  }
  return { outcomes, superset, record };
}

/**
 * Records the changes. If another run has written the record in the meantime, the record of the other run is kept. The
 * next run then finds the missing changes by the id of this run.
 */
async function recordAfter(
  { cluster }: Pick<ChangeDeps, 'cluster'>,
  options: ChangeOptions,
  recorded: Inventory,
  outcomes: readonly ChangeOutcome[],
): Promise<readonly Failure[]> {
  const content = contentAfter(recorded, outcomes);
  const isLost = outcomes.some(({ error }) => error?.code === 'lock-lost');
  if (isLost || sameContent(content, recorded)) return [];
  try {
    await storeInventory(cluster, options, recorded, content);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.code === 'cluster-conflict' ? [] : [error];
  }
}

/**
 * Returns all lists of deletions that may be made. A list within the limits can have an approval too, from a time when
 * its source had failures.
 */
function listsOf({ approved, within }: Plan): readonly DeletionList[] {
  return [...approved, ...within];
}

/** Returns the hashes of the approvals whose deletions are all done. */
function spentOf(plan: Plan, outcomes: readonly ChangeOutcome[]): ReadonlySet<string> {
  const deleted = new Set(
    outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => formatId(resource)),
  );
  const done = listsOf(plan).filter(({ deletions }) => deletions.every(({ id }) => deleted.has(id)));
  return new Set(done.flatMap(({ approval }) => approval?.hash ?? []));
}

/** Returns the uids of the live owners of written objects, by key. */
function ownersUids({ batches }: Plan, snapshot: Pick<Snapshot, 'find'>): ReadonlyMap<string, string> {
  const owners = batches.flatMap(({ changes }) =>
    changes.flatMap((change) => (change.action === 'delete' ? [] : (change.owner ?? []))),
  );
  return new Map(
    owners.flatMap((owner): [string, string][] => {
      const { uid } = snapshot.find(owner)?.metadata ?? {};
      return uid === undefined ? [] : [[keyOf(owner), uid]];
    }),
  );
}

/**
 * Empties the catalogue of a registry before the registry is deleted. If the run ends between the two steps, the next
 * run finds the registry, empties the catalogue again and deletes the registry.
 */
function withCatalogues(deps: ChangeDeps, { kinds, apiGroup }: OwnKinds, snapshot: Snapshot): Cluster['remove'] {
  // Created only on demand, because most runs delete nothing.
  let views: ReturnType<typeof openViews> | undefined;
  return async (id, uid, as) => {
    const object = snapshot.find(id);
    if (object !== undefined) {
      views ??= openViews({ apiGroup, layers: [snapshot.objects()] });
      await emptyCatalogue(deps, { kinds, apiGroup, object, view: views(id.namespace ?? '') });
    }
    await deps.cluster.remove(id, uid, as);
  };
}
