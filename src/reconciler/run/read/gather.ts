// Fetches every source and loads its documents. A source that cannot be fetched does not stop the other sources.

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
  /** Normalised address of the source: equal for all URLs of a repository. Absent if the address is never compared. */
  readonly origin?: string;
  readonly repository: Repository;
  /** Folder inside the repository; empty for the whole repository. */
  readonly path: string;
  /** Patterns of paths below `path` that are not read. */
  readonly ignore?: readonly string[];
  /** Default namespace of the objects. If absent, an object of a namespaced kind must declare its namespace. */
  readonly namespace?: string | undefined;
  /** If absent, the source may declare every object. */
  readonly allow?: Allow;
  /** Names of the sources that must be applied and ready first. */
  readonly dependsOn?: readonly string[];
  /** Reads the values for expressions in the manifests. If absent, expressions are not replaced. */
  readonly variables?: () => Promise<Variables>;
  readonly kustomize?: KustomizeBuilder;
  /** Reads the keys for encrypted documents. If absent, an encrypted document is a problem. */
  readonly keys?: () => Promise<SopsKeys>;
  /** User that changes the objects; absent for the account of the reconciler. */
  readonly account?: string;
  /** Set if a person named the commit. The commit that the ref names is then unknown. */
  readonly fixed?: true;
}

export interface Gathered {
  readonly loaded: readonly Sourced[];
  /** Tool locks. They are never applied. */
  readonly locks: readonly Sourced[];
  readonly invalid: readonly ResourceId[];
  /** Objects in the commit that a rollback of the source excludes, by value of the source label. */
  readonly outOfUse: ReadonlyMap<string, OutOfUse>;
  /**
   * Faulty objects of each source, by value of the source label. An object is included even if another source declares
   * it without a fault.
   */
  readonly faulty: ReadonlyMap<string, readonly ResourceId[]>;
  readonly problems: readonly Problem[];
  /** Commits by name of the source. */
  readonly commits: Readonly<Record<string, string>>;
  /** Reasons why no object of a source may be deleted, by value of the source label. */
  readonly suspended: ReadonlyMap<string, string>;
  readonly failures: readonly Failure[];
  /** Failures of sources that did not respond in time. For such a source, the last fetched commit is used. */
  readonly late: readonly Failure[];
  /** Sources that a rollback keeps at an earlier commit. */
  readonly quarantined: readonly Quarantined[];
  /** Names of the sources whose rollback has ended, because their ref names a newer commit. */
  readonly released: readonly string[];
}

export interface GatherInput {
  readonly sources: readonly FleetSource[];
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly cache: LoadCache;
  readonly sound?: SoundFileStore;
  readonly cluster: Pick<Cluster, 'resources' | 'serves' | 'get'>;
  readonly quarantine: Promise<Quarantine>;
  /** Called when all sources were fetched or have failed. */
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
  /** Commit that the ref names, if a rollback excludes this commit. */
  readonly tip?: Checkout;
  readonly quarantined?: Quarantined;
  readonly released?: true;
  /** Failure of the fetch, if an earlier commit of the source is used. */
  readonly failure?: Failure;
  /** Set if the ref may name a newer commit. That commit may declare any object. */
  readonly stale?: true;
}

/** Code of the Failure of a source that may still respond. */
export const LATE = 'source-late';

export async function gather(input: GatherInput): Promise<Gathered> {
  // Starts to read the stored results and their key now, while the quarantine is read from the cluster.
  input.sound?.open().catch(() => undefined);
  const begun = input.sources.map((source) => ({ source, fetching: fetchUsable(source, input.quarantine) }));
  void Promise.allSettled(begun.map(({ fetching }) => fetching)).then(input.fetched);
  const results = await Promise.all(begun.map(({ source, fetching }) => readSource(input, source, fetching)));
  const loaded = results.flatMap(({ source, loaded: each }) =>
    [...(each?.resources ?? []), ...(each?.locks ?? [])].map((resource): Sourced => ({ ...resource, source })),
  );
  // If the limits of a source forbid a declaration, that declaration does not compete with an allowed declaration of
  // another source.
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
 * Returns the commit that the ref names. If a rollback excludes that commit, or the ref of a rolled-back source cannot
 * be read, returns the commit of the rollback.
 */
async function fetchUsable(
  { name, repository, fixed }: FleetSource,
  quarantine: Promise<Quarantine>,
): Promise<Fetched> {
  const fetching = repository.fetch();
  // If the quarantine cannot be read, this promise is never awaited.
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

/** Returns the invalid objects, except objects that their source may not declare and that another source declares. */
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
 * Returns objects that several sources declare. None of these sources has precedence: the live object is kept unchanged
 * until only one source declares the object.
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
