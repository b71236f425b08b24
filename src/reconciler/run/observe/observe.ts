// Observes the declarations in Git and the live objects, before desired objects are computed.

import type { Problem, ResourceId } from '#std/problem.ts';
import type { InstanceName, OwnKinds, Permissions, Rendering } from '../instance.ts';
import { applySetId, isOfOtherSet } from '../labels.ts';
import type { Cluster } from '../ports.ts';
import { type LeftAlone, leftAloneOf } from '../prune/left-alone.ts';
import type { Origins } from '../prune/origins.ts';
import { type FleetSource, type Gathered, gather } from '../read/gather.ts';
import { problemOf } from '../read/problem-of.ts';
import type { SoundFileStore } from '../read/sound-files.ts';
import type { LoadCache } from '../read/source-file.ts';
import type { Sourced } from '../read/sourced.ts';
import { isRecord } from '../records/home-record.ts';
import { type Inventory, readInventory } from '../records/inventory.ts';
import { type Quarantine, readQuarantine } from '../records/quarantine.ts';
import { type Extent, extentOf, hasInventory, kindsOf, originsOf, parentId } from './applyset.ts';
import { definedKinds } from './awaited-kinds.ts';
import { withOthers } from './by-hand.ts';
import { addKeptFields } from './kept-fields.ts';
import { namedKinds, readNeeded, restoreNamed } from './needed.ts';
import { outside, scopeOf } from './scope.ts';
import { formatGroupKind, type GroupKind, groupKindOf, openSnapshot, type Snapshot } from './snapshot.ts';

export interface Observed {
  readonly quarantine: Quarantine;
  readonly gathered: Gathered;
  readonly snapshot: Snapshot;
  /** Live ApplySet parent. `extent` names no kinds and namespaces if the parent does not exist yet. */
  readonly parent: {
    readonly id: ResourceId;
    readonly extent: Extent;
    /** True if the parent has the annotation that an inventory exists. */
    readonly marked: boolean;
    /** True if release 0.1.0 wrote the parent. That release kept no inventory. */
    readonly beforeInventories: boolean;
    /** Origins of the sources. `before`: as the parent names them. `now`: as configured. */
    readonly origins: Origins;
  };
  readonly inventory: Inventory;
  readonly ownKinds: readonly GroupKind[];
  /** Declared objects that must be left alone, by key. */
  readonly leftAlone: ReadonlyMap<string, LeftAlone>;
}

export interface ObserveDeps {
  readonly cluster: Cluster;
  readonly sources: readonly FleetSource[];
  readonly cache: LoadCache;
  /** If absent, results of valid files are not stored for later processes. */
  readonly sound?: SoundFileStore;
}

export interface ObserveOptions
  extends InstanceName,
    OwnKinds,
    Pick<Rendering, 'settings'>,
    Pick<Permissions, 'namespaces' | 'scope' | 'conflicts'> {
  /** If set, resources of other instances are observed like our own, because `skep adopt` takes these over. */
  readonly takesOver?: true;
  /** Throws Failure if a rollback forbids the run. Called at each observation of the run. */
  readonly fits?: (quarantine: Quarantine) => void;
}

/** Observes the state. `before` is an earlier observation by the same run. */
export async function observe(
  deps: ObserveDeps,
  options: ObserveOptions,
  before?: Pick<Observed, 'snapshot'>,
): Promise<Observed> {
  const ownKinds = options.kinds.map((kind) => ({ group: options.apiGroup, kind: kind.kind }));
  const scope = scopeOf(options.namespaces);
  const { everything, snapshot, parent, quarantine, inventory } = await look(deps, options, ownKinds, before);
  snapshot.declare(everything.loaded.map(({ object }) => object));
  const unservedVersions = await listAsDeclared(deps.cluster, snapshot, everything.loaded);
  const declared = withoutUnfit(
    everything,
    new Map([
      ...outside(scope, everything.loaded),
      ...unserved(snapshot, everything.loaded, unservedVersions),
      ...records(options, everything.loaded),
    ]),
  );
  await snapshot.ensure([...ownKinds, ...kindsOf(parent.extent), ...namedKinds(options, declared.loaded)]);
  const named = await readNeeded(options, snapshot, declared.loaded);
  const whole = await restoreNamed(declared, named, snapshot.find);
  const own = withoutUnfit(whole, ofOtherInstances(options, snapshot, whole.loaded));
  const kept = await addKeptFields(deps, options, own, snapshot.find);
  const all = withOthers(deps, options, kept, snapshot);
  const gathered = all === own ? own : await readNamed(options, snapshot, all);
  const leftAlone = leftAloneOf(gathered.loaded, snapshot.find);
  return { quarantine, gathered, snapshot, parent, inventory, ownKinds, leftAlone };
}

interface Looked extends Pick<Observed, 'quarantine' | 'snapshot' | 'parent' | 'inventory'> {
  /** Declarations of all sources, before they are compared with live objects. */
  readonly everything: Gathered;
}

/** Reads the sources. At the same time, begins to list the kinds that every run needs. */
async function look(
  deps: ObserveDeps,
  options: ObserveOptions,
  ownKinds: readonly GroupKind[],
  before: Pick<Observed, 'snapshot'> | undefined,
): Promise<Looked> {
  const { kinds, apiGroup, instance, homeNamespace } = options;
  const { sources, cache, sound, cluster } = deps;
  const applySet = applySetId(instance, homeNamespace);
  const { names: namespaces } = scopeOf(options.namespaces);
  const { promise: fetched, resolve } = Promise.withResolvers<void>();
  const fit = fitting(deps, options);
  const opening = openSnapshot(cluster, { namespaces, applySet, before: before?.snapshot });
  const readingParent = readParent(deps, options);
  const [quarantine, everything, snapshot, parent, inventory] = await Promise.all([
    fit,
    gather({ sources, kinds, apiGroup, cache, sound, cluster, quarantine: fit, fetched: resolve }),
    opening,
    readingParent,
    readInventory(cluster, options),
    // Kinds with live objects are listed first, because their LISTs take longest.
    Promise.all([opening, readingParent, fit, fetched]).then(([begun, { extent }]) =>
      begun.begin([...kindsOf(extent), ...ownKinds]),
    ),
  ]);
  return { quarantine, everything, snapshot, parent, inventory };
}

async function readParent(
  { cluster, sources }: ObserveDeps,
  { instance, homeNamespace }: InstanceName,
): Promise<Observed['parent']> {
  const id = parentId(instance, homeNamespace);
  const object = await cluster.get(id);
  return {
    id,
    extent: extentOf(object),
    marked: hasInventory(object),
    beforeInventories: object !== undefined && !hasInventory(object),
    origins: { before: originsOf(object), now: sources.flatMap(({ origin }) => origin ?? []).sort() },
  };
}

/**
 * Reads the objects to which resources refer. Called after resources applied by hand, and fields that other managers
 * keep, were added.
 */
async function readNamed(options: ObserveOptions, snapshot: Snapshot, gathered: Gathered): Promise<Gathered> {
  await snapshot.ensure(namedKinds(options, gathered.loaded));
  return restoreNamed(gathered, await readNeeded(options, snapshot, gathered.loaded), snapshot.find);
}

/**
 * Lists each kind again in the version that a manifest declares, if the server prefers another version: objects are
 * compared in the declared version. Our own kinds have the same fields in all versions, so they are not listed again.
 * Returns the declared versions that the server does not serve, as keys of `versionKey`.
 */
async function listAsDeclared(
  cluster: Pick<Cluster, 'serves'>,
  snapshot: Snapshot,
  loaded: readonly Sourced[],
): Promise<ReadonlySet<string>> {
  const others = new Map<string, Sourced>();
  for (const each of loaded) {
    const served = snapshot.served(groupKindOf(each.id));
    if (served !== undefined && served.apiVersion !== each.id.apiVersion) others.set(versionKey(each.id), each);
  }
  const found = await Promise.all(
    [...others].map(async ([key, { id, kind }]) => {
      const resource = await cluster.serves(id.apiVersion, id.kind);
      if (resource !== undefined && kind === undefined) snapshot.listAs(resource);
      return resource === undefined ? [key] : [];
    }),
  );
  return new Set(found.flat());
}

function versionKey({ apiVersion, kind }: Pick<ResourceId, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`;
}

async function fitting({ cluster }: ObserveDeps, options: ObserveOptions): Promise<Quarantine> {
  const quarantine = await readQuarantine(cluster, options);
  options.fits?.(quarantine);
  return quarantine;
}

/** Marks resources that cannot be applied as invalid, so that they are kept unchanged. */
function withoutUnfit(gathered: Gathered, unfit: ReadonlyMap<Sourced, Problem>): Gathered {
  return {
    ...gathered,
    invalid: [...gathered.invalid, ...[...unfit.keys()].map(({ id }) => id)],
    problems: [...gathered.problems, ...unfit.values()],
  };
}

function records(options: InstanceName, loaded: readonly Sourced[]): ReadonlyMap<Sourced, Problem> {
  const message =
    'an instance of skep keeps an object of this name for itself, and no source may declare it: give it another name';
  const finding = { code: 'record-declared', severity: 'error', pointer: '/metadata/name', message } as const;
  const declared = loaded.filter(({ id }) => isRecord(options, id));
  return new Map(declared.map((resource) => [resource, problemOf(resource, finding)]));
}

/**
 * Returns a problem for each object that another instance manages. Otherwise both instances would change the object
 * back and forth, or one instance would delete it.
 */
function ofOtherInstances(
  { instance, homeNamespace, takesOver }: ObserveOptions,
  snapshot: Snapshot,
  loaded: readonly Sourced[],
): ReadonlyMap<Sourced, Problem> {
  const own = applySetId(instance, homeNamespace);
  if (takesOver) return new Map();
  const foreign = loaded.filter(({ id }) => {
    const living = snapshot.find(id);
    return living !== undefined && isOfOtherSet(living, own);
  });
  const message =
    'another instance manages it and its children: declare it for one of the two, or take it over with skep adopt';
  const finding = { code: 'resource-foreign', severity: 'error', pointer: '/metadata/name', message } as const;
  return new Map(foreign.map((resource) => [resource, problemOf(resource, finding)]));
}

function unserved(
  snapshot: Snapshot,
  loaded: readonly Sourced[],
  versions: ReadonlySet<string>,
): ReadonlyMap<Sourced, Problem> {
  const defined = new Set(definedKinds(loaded).map(formatGroupKind));
  return new Map(
    loaded.flatMap((resource): [Sourced, Problem][] => {
      const isServed = snapshot.served(groupKindOf(resource.id)) !== undefined;
      if (isServed && !versions.has(versionKey(resource.id))) return [];
      const crds =
        resource.kind === undefined ? '' : ': install the CRDs of skep (skep crds | kubectl apply --server-side -f -)';
      const what = `the cluster does not serve ${resource.id.apiVersion} ${resource.id.kind}`;
      const finding = defined.has(formatGroupKind(groupKindOf(resource.id)))
        ? {
            severity: 'warning' as const,
            message: `${what} yet: a run applies its definition first, and continues with it`,
          }
        : { severity: 'error' as const, message: `${what}${crds}` };
      return [[resource, problemOf(resource, { code: 'kind-not-served', pointer: '/kind', ...finding })]];
    }),
  );
}
