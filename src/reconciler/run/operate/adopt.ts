// Takes a fleet over from ToolHive's operator, or only shows the consequences. The adoption deletes no object and
// changes no pod. The next run brings the fleet to the state in Git.

import { groupOf, idOf, keyOf, keyOfObject } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import { acquire, holderName, type Lock, leaseId, readLease } from '../apply/lock.ts';
import { suspendedFailure } from '../apply/suspension-watch.ts';
import { withoutForeign } from '../desire/foreign.ts';
import { applySetId, fieldManager, isOfOtherSet, isOtherInstance, labelValue } from '../labels.ts';
import { appliedBy } from '../observe/applied-by.ts';
import { extentOfMembers, parentObject, sameExtent, union, withInventory } from '../observe/applyset.ts';
import { scopeOf } from '../observe/scope.ts';
import type { GroupKind } from '../observe/snapshot.ts';
import { type Prepared, prepare } from '../prepare.ts';
import { isLeftAlone } from '../prune/left-alone.ts';
import { type InventoryEntry, storeInventory } from '../records/inventory.ts';
import { readSuspension } from '../records/suspension.ts';
import type { RunDeps, RunOptions } from '../run.ts';
import { type AdoptableResource, type Adoption, type AdoptionInput, adoptions } from './adoption.ts';
import { findOperatorLease } from './operator-lease.ts';

export interface AdoptionResult {
  readonly adoptions: readonly Adoption[];
  /** False if the adoptions were only shown. */
  readonly done: boolean;
  /** Objects that were not taken over, because another writer changed them at the same moment. */
  readonly refused: readonly ResourceId[];
  /** Lease that ToolHive's operator renews; absent if no such Lease was found. */
  readonly running?: ResourceId;
  /** Names of other instances of skep that manage some of the objects. */
  readonly otherInstances: readonly string[];
  /** Problems that the adoption does not solve. */
  readonly problems: readonly Problem[];
  readonly failures: readonly Failure[];
}

/** Kinds of objects that ToolHive's operator creates. Skep does not always list these kinds. */
const THEIR_KINDS: readonly GroupKind[] = [
  ...['ConfigMap', 'Secret', 'Service', 'ServiceAccount'].map((kind) => ({ group: '', kind })),
  ...['Deployment', 'StatefulSet'].map((kind) => ({ group: 'apps', kind })),
  ...['Role', 'RoleBinding'].map((kind) => ({ group: 'rbac.authorization.k8s.io', kind })),
];

/** Maximum number of attempts if controllers keep changing an object. */
const TRIES = 3;

/** Codes of conflicts that the adoption resolves. */
const FIELD_CODES: ReadonlySet<string> = new Set(['field-conflict', 'field-set-back']);

/**
 * If `write` is false, only returns the adoptions. Otherwise adopts the fleet while it holds the instance's Lease.
 * Throws Failure `suspended`, `adopt-operator-running` or `locked` before the first change. Any other Failure, such as
 * `cluster-unreachable`, may leave the adoption incomplete.
 */
export async function adopt(deps: RunDeps, options: RunOptions, write: boolean): Promise<AdoptionResult> {
  deps.cluster.refresh();
  const seen = await readLease(deps, leaseId(options));
  const found = await find(deps, options);
  if (!write) return found;
  const suspension = await readSuspension(deps.cluster, options);
  if (suspension !== undefined) throw suspendedFailure(suspension);
  if (found.running !== undefined) throw stillRunning(found.running);
  if (found.leaseFailure !== undefined) throw found.leaseFailure;
  const lock = await acquire(deps, seen, holderName(options));
  deps.cluster.fence(lock.assertHeld);
  try {
    const current = lock.contended ? await find(deps, options) : found;
    const refused = await takeOverPatiently(deps, options, current, lock);
    return {
      ...current,
      refused: refused.map(({ resource }) => resource),
      failures: [...current.failures, ...refused.map(({ failure }) => failure)],
      done: true,
    };
  } finally {
    deps.cluster.fence(undefined);
    await lock.release();
  }
}

interface AdoptionFacts extends AdoptionResult, Pick<Prepared, 'inventory' | 'recorded'> {
  readonly parent: Prepared['parent'];
  /** Failure of reading the lease. It is then unknown whether ToolHive's operator runs. */
  readonly leaseFailure: Failure | undefined;
  /** Inventory entries of the objects to be taken over, by key. */
  readonly taken: ReadonlyMap<string, InventoryEntry>;
}

async function find(deps: RunDeps, options: RunOptions): Promise<AdoptionFacts> {
  const { apiGroup, instance, homeNamespace } = options;
  const prepared = await prepare(deps, { ...options, scope: 'git', takesOver: true }, 'read');
  const { snapshot, allDesires, parent, leftAlone } = prepared;
  await snapshot.ensure(THEIR_KINDS);
  const all = declaredOf(prepared);
  const declared = all.filter(({ custom }) => custom);
  const applySet = applySetId(instance, homeNamespace);
  const ofOthers = all.filter(({ custom, live }) => !custom && isOfOtherSet(live, applySet));
  const { lease: running, failure } = await findOperatorLease(deps, options);
  const look = () =>
    adoptions({
      apiGroup,
      manager: fieldManager(instance),
      applySet,
      declared,
      ofOthers: ofOthers.map(({ live }) => live),
      children: allDesires.objects.filter(({ owner }) => owner !== undefined),
      ...liveObjects(options, snapshot, leftAlone),
    });
  // Objects are replaced as a whole, so their complete contents are read.
  await snapshot.completeWhole(look().map(({ resource }) => resource));
  const found = look();
  const taken = new Set(found.map(({ resource }) => keyOf(resource)));
  const others = prepared.problems.filter(({ code, resource }) => {
    const solved = FIELD_CODES.has(code) && resource !== undefined && taken.has(keyOf(resource));
    return code !== 'child-foreign' && !solved;
  });
  const foreign = foreignProblems(prepared, options, taken);
  return {
    adoptions: found,
    done: false,
    refused: [],
    running,
    otherInstances: instancesOf(found, fieldManager(instance)),
    problems: [...others, ...foreign],
    failures: [...prepared.gathered.failures, ...snapshot.failures(), ...(failure === undefined ? [] : [failure])],
    leaseFailure: failure,
    parent,
    inventory: prepared.inventory,
    recorded: prepared.recorded,
    taken: new Map(
      [...declared, ...ofOthers].map(({ id, source, live }) => [
        keyOf(id),
        { source: labelValue(source), run: options.id, uid: live.metadata.uid },
      ]),
    ),
  };
}

function instancesOf(found: readonly Adoption[], own: string): readonly string[] {
  const managers = found.flatMap((each) => each.managers).filter((manager) => isOtherInstance(manager, own));
  return [...new Set(managers.map((manager) => manager.slice(fieldManager('').length)))];
}

/** Returns the live objects that the instance may touch. */
function liveObjects(
  { namespaces, kinds, apiGroup }: RunOptions,
  snapshot: Prepared['snapshot'],
  leftAlone: Prepared['leftAlone'],
): Pick<AdoptionInput, 'live' | 'customResources'> {
  const scope = scopeOf(namespaces);
  const inScope = snapshot.objects().filter(({ metadata }) => scope.allows(metadata.namespace ?? ''));
  const free = inScope.filter((object) => !isLeftAlone(object) && !leftAlone.has(keyOfObject(object)));
  const live = free.toSorted((a, b) => (formatId(idOf(a)) < formatId(idOf(b)) ? -1 : 1));
  const ours = new Set(kinds.map(({ kind }) => kind));
  return {
    live,
    customResources: live.filter(({ kind, apiVersion }) => ours.has(kind) && groupOf(apiVersion) === apiGroup),
  };
}

/** Returns the declared objects that exist in the cluster and that the instance may touch. */
function declaredOf({
  resolved,
  leftAlone,
  snapshot,
}: Prepared): readonly (AdoptableResource & { readonly custom: boolean })[] {
  return resolved.standings.flatMap(({ loaded: { id, source, kind }, health }) => {
    const custom = kind !== undefined;
    const skipped = leftAlone.has(keyOf(id)) || (!custom && health !== 'healthy');
    const live = skipped ? undefined : snapshot.find(id);
    return live === undefined ? [] : [{ id, source, live, custom }];
  });
}

/** Returns problems with children that belong to another owner and are not taken over. */
function foreignProblems(
  { snapshot, resolved, allDesires }: Prepared,
  options: RunOptions,
  taken: ReadonlySet<string>,
) {
  const { instance, homeNamespace } = options;
  const { problems } = withoutForeign({
    desires: { ...allDesires, objects: allDesires.objects.filter(({ key }) => !taken.has(key)) },
    standings: resolved.standings,
    living: snapshot.find,
    applySet: applySetId(instance, homeNamespace),
    applied: appliedBy(instance),
  });
  return problems;
}

function stillRunning({ namespace, name }: ResourceId): Failure {
  return new Failure(
    'adopt-operator-running',
    `ToolHive's operator still runs (Lease ${name} in ${namespace} is renewed): it would undo the adoption. ` +
      'Scale its Deployment to zero, wait until the lease has run out, then adopt again',
  );
}

interface AdoptionFailure {
  readonly resource: ResourceId;
  readonly failure: Failure;
}

/** Takes the objects over. If a controller has changed objects in the meantime, reads them again and retries. */
async function takeOverPatiently(
  deps: RunDeps,
  options: RunOptions,
  found: AdoptionFacts,
  lock: Pick<Lock, 'assertHeld'>,
): Promise<AdoptionFailure[]> {
  let refused = await takeOver(deps, options, found, lock);
  for (let tries = 1; tries < TRIES && refused.some(({ failure }) => failure.code === 'cluster-conflict'); tries += 1) {
    refused = await takeOver(deps, options, await find(deps, options), lock);
  }
  return refused;
}

/** Writes inventory and ApplySet parent first: a run then finds our objects even if the adoption ends early. */
async function takeOver(
  deps: RunDeps,
  options: RunOptions,
  { adoptions: all, parent, inventory, recorded, taken }: AdoptionFacts,
  lock: Pick<Lock, 'assertHeld'>,
): Promise<AdoptionFailure[]> {
  const { instance, homeNamespace, tooling } = options;
  await storeInventory(deps.cluster, options, inventory, {
    ...recorded,
    entries: new Map([...recorded.entries, ...taken]),
  });
  const members = all.map(({ resource }) => resource);
  const extent = union(parent.extent, extentOfMembers(members, homeNamespace));
  if (!sameExtent(extent, parent.extent)) {
    const declared = parentObject(parent.id, applySetId(instance, homeNamespace), extent, tooling);
    await deps.cluster.apply(withInventory(declared, parent.origins.now), { force: true });
  }
  const refused: AdoptionFailure[] = [];
  for (const { object, resource } of all) {
    lock.assertHeld();
    try {
      await deps.cluster.replace(object);
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'cluster-unreachable') throw error;
      refused.push({ resource, failure: error });
    }
  }
  return refused;
}
