// Fetches every source and loads its documents. A source that cannot be fetched stays unchanged in the cluster; all
// other sources are loaded.

import { isToolLock } from '#contracts/tool-lock/schema.ts';
import { keyOf } from '#kubernetes/rules/object.ts';
import { Failure } from '#std/failure.ts';
import { formatId, type Problem, type ResourceId } from '#std/problem.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import type { Kind } from '../../kinds/kind.ts';
import { labelValue } from '../labels.ts';
import type { Checkout, Cluster, KustomizeBuilder, Repository } from '../ports.ts';
import { isQuarantined, type Quarantine, type Quarantined } from '../records/quarantine.ts';
import { findOutOfUse, loadCheckout, type OutOfUse } from './checkout.ts';
import { type Allow, beyondLimits, limitsBySource } from './limits.ts';
import type { Loaded } from './load.ts';
import type { SoundFileStore } from './sound-files.ts';
import type { LoadCache } from './source-file.ts';
import type { Sourced } from './sourced.ts';
import type { Variables } from './substitute/variables.ts';

export interface FleetSource {
  readonly name: string;
  /** Place that the source is read from, in one form for all URLs of a repository; absent if no caller compares it. */
  readonly origin?: string;
  readonly repository: Repository;
  /** Folder inside the repository; the empty string means the whole repository. */
  readonly path: string;
  /** Patterns of paths below `path` that are not read. */
  readonly ignore?: readonly string[];
  /** Default namespace of the source's objects. If absent, a namespaced object without a namespace is a problem. */
  readonly namespace?: string | undefined;
  /** If absent, the source may declare every object. */
  readonly allow?: Allow;
  /** Sources that must be applied and ready first; absent if the source depends on no source. */
  readonly dependsOn?: readonly string[];
  /** Values for expressions in the manifests, read in each run. If absent, expressions stay as they are. */
  readonly variables?: () => Promise<Variables>;
  /** Builds the kustomizations of the source. */
  readonly kustomize?: KustomizeBuilder;
  /** Keys for encrypted documents, read only if the source has such documents. If absent, it may not have any. */
  readonly keys?: () => Promise<SopsKeys>;
  /** User that changes the objects; absent for the reconciler itself. */
  readonly account?: string;
  /**
   * Set if the source is read at a commit that a person named, which says nothing about the commit that its ref names.
   */
  readonly fixed?: true;
}

export interface Gathered {
  readonly loaded: readonly Sourced[];
  /** Locks of tools, which are never applied. */
  readonly locks: readonly Sourced[];
  readonly invalid: readonly ResourceId[];
  /** Objects that rolled-back sources declare in the commits that their refs name; by value of the source label. */
  readonly outOfUse: ReadonlyMap<string, OutOfUse>;
  /**
   * Invalid objects of each source, by value of the source label. Objects that another source declares correctly are
   * included.
   */
  readonly faulty: ReadonlyMap<string, readonly ResourceId[]>;
  readonly problems: readonly Problem[];
  /** Commits by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  /** Reasons why no object of a source may be deleted, by source label. */
  readonly suspended: ReadonlyMap<string, string>;
  readonly failures: readonly Failure[];
  /** Failures of sources that have not responded yet, and are used as they were read last. */
  readonly late: readonly Failure[];
  /** Sources that stay at an earlier commit because of a rollback. */
  readonly quarantined: readonly Quarantined[];
  /** Sources whose quarantine is over, because their refs name a newer commit. */
  readonly released: readonly string[];
}

export interface GatherInput {
  readonly sources: readonly FleetSource[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly cache: LoadCache;
  readonly sound?: SoundFileStore;
  /** Describes the kinds that the sources use but do not define. */
  readonly cluster: Pick<Cluster, 'resources' | 'serves' | 'get'>;
  readonly quarantine: Promise<Quarantine>;
  /** Called when all sources are fetched or have failed, so that they only have to be read. */
  readonly fetched?: () => void;
}

interface SourceResult {
  readonly outOfUse?: OutOfUse;
  readonly source: string;
  readonly commit?: string;
  readonly loaded?: Loaded;
  readonly failure?: Failure;
  readonly stale?: true;
  readonly quarantined?: Quarantined;
  readonly released?: true;
}

interface Fetched {
  readonly checkout: Checkout;
  /** Commit that the ref names, if the commit is out of use. */
  readonly tip?: Checkout;
  readonly quarantined?: Quarantined;
  readonly released?: true;
  /** Failure of reading the ref, if the source can be used without it. */
  readonly failure?: Failure;
  /** Set if the ref may name a newer commit, which may declare any object. */
  readonly stale?: true;
}

/** Code of the failure of a source that may still respond. */
export const LATE = 'source-late';

export async function gather(input: GatherInput): Promise<Gathered> {
  // Opening requests a key from the cluster, in parallel with the quarantine.
  input.sound?.open().catch(() => undefined);
  const begun = input.sources.map((source) => ({ source, fetching: fetchUsable(source, input.quarantine) }));
  void Promise.allSettled(begun.map(({ fetching }) => fetching)).then(input.fetched);
  const results = await Promise.all(begun.map(({ source, fetching }) => readSource(input, source, fetching)));
  const loaded = results.flatMap(({ source, loaded: each }) =>
    [...(each?.resources ?? []), ...(each?.locks ?? [])].map((resource): Sourced => ({ ...resource, source })),
  );
  // An object beyond its source's limits does not compete with the same object in a source that may declare it.
  const beyond = beyondLimits(limitsBySource(input.sources), loaded);
  const rightful = loaded.filter((resource) => !beyond.has(resource));
  const claimed = new Set(rightful.map(({ id }) => keyOf(id)));
  const unclaimed = [...beyond.keys()].filter(({ id }) => !claimed.has(keyOf(id)));
  const duplicates = duplicatesOf(rightful);
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const declared = [...rightful.filter((resource) => !duplicates.has(resource)), ...unclaimed];
  return {
    loaded: declared.filter(({ id }) => !isToolLock(id)),
    locks: declared.filter(({ id }) => isToolLock(id)),
    invalid: [...invalidOf(results, beyond, claimed), ...[...duplicates.keys(), ...unclaimed].map(({ id }) => id)],
    outOfUse: new Map(
      results.flatMap(({ source, outOfUse }) => (outOfUse === undefined ? [] : [[labelValue(source), outOfUse]])),
    ),
    faulty: faultyOf(results, [...beyond.keys(), ...duplicates.keys()]),
    problems: [
      ...results.flatMap((result) => result.loaded?.problems ?? []),
      ...beyond.values(),
      ...duplicates.values(),
    ],
    commits: Object.fromEntries(
      results.flatMap(({ source, commit }) => (commit === undefined ? [] : [[source, commit]])),
    ),
    suspended: new Map(results.flatMap(suspensionOf)),
    failures: failures.filter(({ code }) => code !== LATE),
    late: failures.filter(({ code }) => code === LATE),
    quarantined: results.flatMap(({ quarantined }) => (quarantined === undefined ? [] : [quarantined])),
    released: results.flatMap(({ source, released }) => (released === true ? [source] : [])),
  };
}

async function readSource(input: GatherInput, source: FleetSource, fetching: Promise<Fetched>): Promise<SourceResult> {
  try {
    const { checkout, tip, ...rest } = await fetching;
    const loaded = await loadCheckout(input, source, checkout);
    const outOfUse = rest.quarantined === undefined ? undefined : await findOutOfUse(input, source, tip);
    return { source: source.name, commit: checkout.commit, loaded, outOfUse, ...rest };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { source: source.name, failure };
  }
}

/**
 * Returns the commit that the ref names. If that commit is out of use, or cannot be read, returns the commit that the
 * source was rolled back to.
 */
async function fetchUsable(
  { name, repository, fixed }: FleetSource,
  quarantine: Promise<Quarantine>,
): Promise<Fetched> {
  const fetching = repository.fetch();
  // If the quarantine cannot be read, the fetch is never awaited.
  fetching.catch(() => undefined);
  const entry = (await quarantine).entries.get(name);
  if (entry === undefined) {
    const checkout = await fetching;
    return checkout.stale === undefined ? { checkout } : { checkout, failure: checkout.stale, stale: true };
  }
  try {
    const checkout = await fetching;
    if (checkout.stale !== undefined) throw checkout.stale;
    if (!isQuarantined(entry, checkout.commit)) return { checkout, released: fixed === true ? undefined : true };
    return { checkout: await repository.at(entry.good), quarantined: entry, tip: checkout };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { checkout: await repository.at(entry.good), quarantined: entry, failure };
  }
}

/** Leaves out invalid objects that their source may not declare, if another source declares them. */
function invalidOf(
  results: readonly SourceResult[],
  beyond: ReadonlyMap<Sourced, Problem>,
  claimed: ReadonlySet<string>,
): ResourceId[] {
  const refused = new Set([...beyond.keys()].map(({ id, source }) => `${source} ${keyOf(id)}`));
  return results.flatMap(({ source, loaded }) =>
    (loaded?.invalid ?? []).filter((id) => !(claimed.has(keyOf(id)) && refused.has(`${source} ${keyOf(id)}`))),
  );
}

function faultyOf(
  results: readonly SourceResult[],
  unfit: readonly Sourced[],
): ReadonlyMap<string, readonly ResourceId[]> {
  const ofSource = (source: string) => unfit.filter((each) => each.source === source).map(({ id }) => id);
  return new Map(
    results.map(({ source, loaded }) => [labelValue(source), [...(loaded?.invalid ?? []), ...ofSource(source)]]),
  );
}

function suspensionOf({ source, loaded, failure, stale }: SourceResult): [string, string][] {
  if (stale === true) return [[labelValue(source), 'the commit that its ref names now could not be read']];
  if (failure !== undefined && loaded === undefined) return [[labelValue(source), 'it could not be read']];
  if (loaded?.unidentified !== true) return [];
  return [[labelValue(source), 'one of its documents could not be identified']];
}

/**
 * Returns objects that a second source declares again. Neither source wins: the object stays as it exists until one of
 * the sources drops it.
 */
function duplicatesOf(loaded: readonly Sourced[]): ReadonlyMap<Sourced, Problem> {
  const first = new Map<string, Sourced>();
  const duplicates = new Map<Sourced, Problem>();
  for (const resource of loaded) {
    const key = keyOf(resource.id);
    const other = first.get(key);
    if (other === undefined) first.set(key, resource);
    if (other === undefined || other.source === resource.source) continue;
    const pointer = '/metadata/name';
    const { file, line, column } = other.place(pointer);
    const where = `${file}:${line}:${column}`;
    const message = `${formatId(resource.id)} is declared by source ${other.source} too, at ${where}: keep one of the two`;
    const place = resource.place(pointer);
    const problem = { code: 'duplicate-resource', severity: 'error', message, place, pointer } as const;
    duplicates.set(resource, { ...problem, resource: resource.id });
  }
  return duplicates;
}
