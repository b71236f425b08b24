// Everything a run does before it writes to the cluster: gather, observe, sync registries, resolve, desire, diff, plan.
// Knows nothing about locks or how changes are made.

import type { Kind } from '../kinds/kind.ts';
import { groupOf, idOf, type KubeObject, keyOf } from '../kube/object.ts';
import { type MergeType, rootType } from '../kube/openapi.ts';
import { applyOrder } from '../kube/order.ts';
import { entryOf } from '../kube/ownership/entries.ts';
import type { Problem, ResourceId } from '../std/problem.ts';
import { type Extent, extentOf, kindsOf, parentId } from './applyset.ts';
import { ascertain } from './certainty.ts';
import { desire } from './desire.ts';
import { diff } from './diff.ts';
import { withDigests } from './digest-key.ts';
import { type OwnDesires, withoutForeign } from './foreign.ts';
import { type Gathered, gather, type Sourced } from './gather.ts';
import { keepValues } from './generated.ts';
import { applySetId, fieldManager, labelOf, labelValue, PART_OF } from './labels.ts';
import { levels } from './levels.ts';
import { type Plan, plan } from './plan.ts';
import type { Cluster } from './ports.ts';
import type { RunDeps, RunOptions } from './reconcile.ts';
import { type Referrers, referrersOf } from './referrers.ts';
import { type RegistryResults, type SyncMode, syncRegistries } from './registries.ts';
import { problemOf, type Resolved, resolve } from './resolve.ts';
import { outside, scopeOf } from './scope.ts';
import { type GroupKind, groupKindOf, openSnapshot, type Snapshot } from './snapshot.ts';
import { openViews } from './view.ts';

export interface Prepared {
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  readonly registries: RegistryResults;
  readonly resolved: Resolved;
  readonly desires: OwnDesires;
  readonly plan: Plan;
  readonly problems: readonly Problem[];
  /** The ApplySet parent as it lives; its extent is empty where there is none yet. */
  readonly parent: { readonly id: ResourceId; readonly extent: Extent };
  /** True where there is no key yet for the digests of Secrets. */
  readonly unsealed: boolean;
  /** Kinds whose objects say how far the run's resources are. */
  readonly watched: readonly GroupKind[];
}

/** Throws Failure where the cluster cannot be asked at all; what single sources or LISTs refuse is in the result. */
export async function prepare(deps: RunDeps, options: RunOptions, mode: SyncMode): Promise<Prepared> {
  const { kinds, apiGroup, instance, homeNamespace } = options;
  const scope = scopeOf(options.namespaces);
  const parentIdentity = parentId(instance, homeNamespace);
  const [everything, snapshot, parentObject] = await Promise.all([
    gather({ sources: deps.sources, kinds, apiGroup, cache: deps.cache }),
    openSnapshot(deps.cluster, scope.names),
    deps.cluster.get(parentIdentity),
  ]);
  const parent = { id: parentIdentity, extent: extentOf(parentObject) };
  const gathered = withoutUnfit(
    everything,
    new Map([...outside(scope, everything.loaded), ...unserved(snapshot, everything.loaded)]),
  );
  const ownKinds = kinds.map((kind) => ({ group: apiGroup, kind: kind.kind }));
  await snapshot.ensure([...ownKinds, ...kindsOf(parent.extent), ...namedKinds(gathered.loaded, apiGroup)]);

  const views = openViews({
    apiGroup,
    layers: [snapshot.objects(), declared(gathered)],
  });
  const registries = await syncRegistries(deps, {
    mode,
    apiGroup,
    loaded: gathered.loaded,
    living: snapshot.find,
    views,
  });
  // Of a kind that is not served there is nothing: that is known, too.
  const knowledge = (kind: string) => {
    const target = groupKindFor(kind, apiGroup);
    return snapshot.known(target) || snapshot.served(target) === undefined ? 'listed' : 'failed';
  };
  const { loaded, invalid } = gathered;
  const resolved = resolve({
    loaded,
    invalid,
    kinds,
    views,
    knowledge,
    images: registries.images,
    living: snapshot.find,
  });
  const applySet = applySetId(instance, homeNamespace);
  const { settings } = options;
  const { standings } = resolved;
  const { made: wishes, unsealed } = await withDigests(deps.digestKey, mode, (digest) =>
    desire({ standings, views, settings: { ...settings, digest }, applySet, living: snapshot.find }),
  );
  const desiredKinds = wishes.objects.map(({ id }) => groupKindOf(id));
  await snapshot.ensure(desiredKinds);
  const applied = appliedBy(instance);
  const ours = withoutForeign({ desires: wishes, standings, living: snapshot.find, applySet, applied });
  const desires = keepValues(ours, snapshot.find);
  return {
    gathered,
    snapshot,
    registries,
    resolved,
    desires,
    plan: await planFor(deps, options, { gathered, snapshot, resolved, desires, applySet }),
    problems: [...gathered.problems, ...registries.problems, ...resolved.problems, ...desires.problems],
    parent,
    unsealed,
    watched: [...ownKinds, ...desiredKinds],
  };
}

async function planFor(
  deps: RunDeps,
  options: RunOptions,
  input: Pick<Prepared, 'gathered' | 'snapshot' | 'resolved' | 'desires'> & { applySet: string },
): Promise<Plan> {
  const { gathered, snapshot, resolved, desires, applySet } = input;
  const { kinds, apiGroup } = options;
  const manager = fieldManager(options.instance);
  const live = snapshot.objects();
  const known = (id: ResourceId): boolean => snapshot.known(groupKindOf(id));
  // A child whose owner may or may not live is left alone: without the owner's uid it would lose its owner reference.
  const desired = desires.objects.filter(({ id, owner }) => known(id) && (owner === undefined || known(owner)));
  const typeOf = await typesOf(
    deps.cluster,
    desired.map(({ id }) => id),
  );
  const { compared, surplus } = diff({ desired, living: snapshot.find, live, typeOf, manager, applySet });
  return plan({
    compared: await ascertain(deps.cluster, compared, manager, deps.remembered),
    surplus,
    owned: live.filter((object) => labelOf(object, PART_OF) === applySet),
    heldOwners: desires.heldOwners,
    unknownOwnerKinds: unknownOwnerKinds(options, snapshot),
    // Nobody asks where nothing goes.
    referrers: surplus.length === 0 ? NOBODY : referrersOf({ standings: resolved.standings, live, kinds, apiGroup }),
    unknownReferrers: unlisted(options, snapshot),
    heldKeys: heldKeys(gathered, resolved),
    sources: new Set(deps.sources.map(({ name }) => labelValue(name))),
    suspended: gathered.suspended,
    prune: options.prune,
    allows: scopeOf(options.namespaces).allows,
    applied: appliedBy(options.instance),
    limits: options.limits,
    rank: rankOf(options.kinds, options.apiGroup),
  });
}

/** Whether an object shows that the instance has applied it. */
function appliedBy(instance: string): (object: KubeObject) => boolean {
  const manager = fieldManager(instance);
  return (object) => entryOf(object, manager) !== undefined;
}

/** What Git says, as kinds read it: with defaults, and without what is invalid. */
function declared({ loaded, invalid }: Gathered): KubeObject[] {
  const broken = new Set(invalid.map(keyOf));
  return loaded.filter(({ id }) => !broken.has(keyOf(id))).map((each) => each.defaulted ?? each.object);
}

function unknownOwnerKinds({ kinds, apiGroup: group }: RunOptions, snapshot: Snapshot): ReadonlySet<string> {
  const unknown = kinds.filter(({ kind }) => !snapshot.known({ group, kind }));
  return new Set(unknown.map(({ kind }) => kind.toLowerCase()));
}

const NOBODY: Referrers = { living: () => [], wanted: () => [] };

/** Of a kind that is not served there is nothing. */
function unlisted({ kinds, apiGroup: group }: RunOptions, snapshot: Snapshot): readonly string[] {
  return kinds
    .map(({ kind }) => ({ group, kind }))
    .filter((kind) => snapshot.served(kind) !== undefined && !snapshot.known(kind))
    .map(({ kind }) => kind);
}

/** Invalid resources, and those that depend on them. */
function heldKeys({ invalid }: Gathered, { standings }: Resolved): ReadonlySet<string> {
  const held = standings.filter(({ verdict }) => verdict === 'held').map(({ loaded }) => loaded.id);
  return new Set([...invalid, ...held].map(keyOf));
}

/** Resources that cannot be applied are held like invalid ones. */
function withoutUnfit(gathered: Gathered, unfit: ReadonlyMap<Sourced, Problem>): Gathered {
  return {
    ...gathered,
    invalid: [...gathered.invalid, ...[...unfit.keys()].map(({ id }) => id)],
    problems: [...gathered.problems, ...unfit.values()],
  };
}

function unserved(snapshot: Snapshot, loaded: readonly Sourced[]): ReadonlyMap<Sourced, Problem> {
  return new Map(
    loaded.flatMap((resource): [Sourced, Problem][] => {
      if (snapshot.served(groupKindOf(resource.id)) !== undefined) return [];
      const crds =
        resource.kind === undefined ? '' : ': install our CRDs (skep crds | kubectl apply --server-side -f -)';
      const message = `the cluster does not serve ${resource.id.apiVersion} ${resource.id.kind}${crds}`;
      const finding = { code: 'kind-not-served', severity: 'error', pointer: '/kind', message } as const;
      return [[resource, problemOf(resource, finding)]];
    }),
  );
}

/** Kinds that the resources are of, and that they name. */
function namedKinds(loaded: readonly Sourced[], apiGroup: string): GroupKind[] {
  return loaded.flatMap(({ id, kind, defaulted }) => {
    const references = kind === undefined || defaulted === undefined ? [] : kind.references(defaulted);
    return [groupKindOf(id), ...references.map((reference) => groupKindFor(reference.kind, apiGroup))];
  });
}

/** References name a kind only: one of Kubernetes' own that hold configuration, or one of our group. */
function groupKindFor(kind: string, apiGroup: string): GroupKind {
  return { group: CORE_KINDS.has(kind) ? '' : apiGroup, kind };
}

const CORE_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim']);

async function typesOf(
  cluster: Cluster,
  ids: readonly ResourceId[],
): Promise<(id: ResourceId) => MergeType | undefined> {
  const types = new Map<string, MergeType | undefined>();
  const named = new Map(ids.map((id) => [`${id.apiVersion}/${id.kind}`, id]));
  await Promise.all(
    [...named].map(async ([name, { apiVersion, kind }]) => {
      const document = await cluster.schema(apiVersion);
      const group = groupOf(apiVersion);
      const version = apiVersion.slice(group === '' ? 0 : group.length + 1);
      types.set(name, document === undefined ? undefined : rootType(document, { group, version, kind }));
    }),
  );
  return (id) => types.get(`${id.apiVersion}/${id.kind}`);
}

/** Built-in kinds in their usual order, then ours by `after`. */
function rankOf(kinds: readonly Kind[], apiGroup: string): (id: ResourceId) => number {
  const level = levels(kinds);
  return (id) =>
    groupOf(id.apiVersion) === apiGroup ? OURS + (level.get(id.kind) ?? 0) : applyOrder(id.apiVersion, id.kind);
}

/** After every built-in kind. */
const OURS = 1000;

/** Identities of everything that is a member of our set once the plan is done. */
export function membersOf(prepared: Pick<Prepared, 'desires' | 'plan'>): ResourceId[] {
  return [...prepared.desires.objects.map(({ id }) => id), ...prepared.plan.held.map(({ resource }) => resource)];
}

/** Uid by key of everything listed. */
export function livingUids(snapshot: Snapshot): ReadonlyMap<string, string> {
  return new Map(
    snapshot.objects().flatMap((object): [string, string][] => {
      const { uid } = object.metadata;
      return uid === undefined ? [] : [[keyOf(idOf(object)), uid]];
    }),
  );
}
