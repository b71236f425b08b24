// The whole run on one screen: prepare, and where something is to be written: lock, apply, settle, release.
// Knows nothing about HTTP, Git's protocol, files or what a spec means.

import type { Kind, Settings } from '../kinds/kind.ts';
import { groupOf } from '../kube/object.ts';
import type { Failure } from '../std/failure.ts';
import { formatId, type Problem, type ResourceId } from '../std/problem.ts';
import { apply, type Outcome, withheldOutcomes } from './apply.ts';
import { type Extent, extentOfMembers, kindsOf, parentObject, sameExtent, union } from './applyset.ts';
import { beginApproved, spendApproval } from './approval.ts';
import type { Remembered } from './certainty.ts';
import { problemsOf } from './conceded.ts';
import type { DigestKey } from './digest-key.ts';
import type { FleetSource } from './gather.ts';
import type { Random } from './generated.ts';
import type { GuardLimits } from './guard.ts';
import { applySetId, fieldManager, labelOf, PART_OF } from './labels.ts';
import { acquire, look } from './lock.ts';
import type { Plan } from './plan.ts';
import { type Admission, admitAgain } from './plan-admission.ts';
import type { Clock, Cluster } from './ports.ts';
import { livingUids, membersOf, type Prepared, prepare } from './prepare.ts';
import { release } from './quarantine.ts';
import type { Readiness } from './readiness.ts';
import { emptyCatalogue, type RegistryDeps } from './registries.ts';
import type { Paused, RunResult } from './result.ts';
import { scopeOf } from './scope.ts';
import { judge, type Sight, settle } from './settle.ts';
import { settleInput } from './settle-input.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import type { LoadCache } from './source-file.ts';
import { readSuspension } from './suspension.ts';
import { troubledPods } from './troubled-pods.ts';
import { openViews } from './view.ts';

export interface RunDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly sources: readonly FleetSource[];
  /** Absent: registry sources are not synced by this run. */
  readonly registries?: RegistryDeps;
  readonly cache: LoadCache;
  readonly remembered: Remembered;
  /** For values that are made once, such as keys. */
  readonly random: Random;
  readonly digestKey: DigestKey;
  /** Told each change as it is made. */
  readonly progress: (outcome: Outcome) => void;
}

export interface RunOptions {
  /** Unique per run: in the lease, the report and the log. */
  readonly id: string;
  readonly instance: string;
  /** Where the instance's Lease and ApplySet parent live. */
  readonly homeNamespace: string;
  readonly apiGroup: string;
  readonly kinds: readonly Kind[];
  readonly settings: Omit<Settings, 'digest'>;
  readonly namespaces: readonly string[];
  /** False: another operator makes the children of the custom resources, and writes their status. */
  readonly children: boolean;
  readonly prune: boolean;
  readonly limits: GuardLimits;
  readonly conflicts: 'report' | 'force';
  /** How long to wait for readiness after a change; 0 looks once. */
  readonly waitSeconds: number;
  /** `name/version`. */
  readonly tooling: string;
  /** Absent: whatever is planned is done. */
  readonly admit?: Admission;
  /** Present: the run writes nothing, whether the instance is suspended or not. */
  readonly paused?: Paused;
}

interface Done {
  readonly outcomes: readonly Outcome[];
  readonly readiness: Readiness;
  readonly failures: readonly Failure[];
  readonly problems: readonly Problem[];
  readonly timedOut: boolean;
}

/**
 * One run. Throws Failure where nothing could be done at all: `cluster-unreachable`, `locked`, ...; everything else is
 * in the result.
 */
export async function reconcile(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  const paused = options.paused ?? (await suspended(deps, options));
  if (paused !== undefined) return { ...(await planOnly(deps, options)), paused };
  const start = startOf(deps);
  const seen = await look(deps, leaseId(options));
  const first = await prepare(deps, options, 'sync');
  const warnings = await release(deps.cluster, options, first.quarantine, first.gathered.released);
  const idle = await nothingToWrite(deps, options, first);
  if (idle !== undefined) return { ...resultOf(deps, options, start, first, idle), warnings };

  const lock = await acquire(deps, seen, options.id);
  deps.cluster.fence(lock.assertHeld);
  try {
    const prepared = await underLock(deps, options, first, lock.contended);
    return { ...resultOf(deps, options, start, prepared, await write(deps, options, prepared)), warnings };
  } finally {
    deps.cluster.fence(undefined);
    await lock.release();
  }
}

async function suspended({ cluster }: RunDeps, options: RunOptions): Promise<Paused | undefined> {
  const suspension = await readSuspension(cluster, options);
  return suspension === undefined ? undefined : { by: 'suspension', ...suspension };
}

/** What is true now that nobody else writes, with digests for all Secrets. */
async function underLock(deps: RunDeps, options: RunOptions, first: Prepared, contended: boolean): Promise<Prepared> {
  // What an admission compares is compared under the lock.
  const again = contended || options.admit !== undefined;
  const prepared = again ? await prepare(deps, options, 'sync', first) : first;
  if (!prepared.unsealed) return prepared;
  await deps.digestKey.make(deps.random);
  const sealed = options.admit === undefined ? options : { ...options, admit: admitAgain(prepared.plan) };
  return prepare(deps, sealed, 'sync', prepared);
}

/** The plan alone: nothing is locked, synced or written. Throws Failure as `reconcile` does, but never `locked`. */
export async function planOnly(deps: RunDeps, options: RunOptions): Promise<RunResult> {
  return (await planned(deps, options)).result;
}

/** The same, with what it was made of. */
export async function planned(
  deps: RunDeps,
  options: RunOptions,
): Promise<{ readonly result: RunResult; readonly prepared: Prepared }> {
  const start = startOf(deps);
  const prepared = await prepare(deps, options, 'read');
  const readiness = { ready: [], progressing: [], failed: [] };
  const done = { outcomes: [], readiness, failures: [], problems: [], timedOut: false };
  return { prepared, result: resultOf(deps, options, start, prepared, done) };
}

/** What a run tells that has nothing to write or to wait for; undefined where there is something. */
async function nothingToWrite(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Done | undefined> {
  const sight = await sightOf(deps, options, prepared.snapshot);
  const { changes, readiness } = judge(settleInput(options, prepared, []), sight, timestamp(deps.clock));
  const waiting = waitSecondsOf(options, prepared) > 0 && readiness.progressing.length > 0;
  // What is withheld is neither there yet nor gone.
  const { withheld } = prepared.plan;
  const exact = withheld !== undefined || sameExtent(exactExtent(options, prepared), prepared.parent.extent);
  if (prepared.plan.batches.length > 0 || changes.length > 0 || waiting || !exact) return undefined;
  const outcomes = withheldOutcomes(prepared.plan);
  for (const outcome of outcomes) deps.progress(outcome);
  return { outcomes, readiness, failures: [], problems: [], timedOut: false };
}

async function write(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Done> {
  const before = prepared.parent.extent;
  const exact = exactExtent(options, prepared);
  const superset = union(exact, before);
  if (!sameExtent(superset, before)) await declareExtent(deps, options, prepared, superset);

  const { plan, snapshot } = prepared;
  const uids = livingUids(snapshot);
  const { cluster, random, progress } = deps;
  const remover = withCatalogues(deps, options, prepared);
  const approval = plan.approved === undefined ? undefined : await beginApproved(deps, plan.approved.approval);
  const outcomes = await apply(
    { cluster: { apply: cluster.apply, schema: cluster.schema, remove: remover }, random, progress },
    { plan, uids, force: options.conflicts === 'force' },
  );
  const spent = approval !== undefined && allDeleted(plan.approved, outcomes);
  const unspent = spent ? await spendApproval(cluster, approval) : [];

  const waitSeconds = waitSecondsOf(options, prepared);
  const deadline = deps.clock.monotonic() + waitSeconds * 1000;
  const see = (): Promise<Sight> => lookAgain(deps, options, prepared);
  const first = await (outcomes.length === 0 ? sightOf(deps, options, snapshot) : see());
  const settled = await settle(
    { ...deps, instance: options.instance },
    settleInput(options, prepared, outcomes),
    first,
    see,
    deadline,
  );

  const complete = outcomes.every(({ action }) => action !== 'failed' && action !== 'held');
  if (complete && !sameExtent(exact, superset)) await declareExtent(deps, options, prepared, exact);
  const timedOut = waitSeconds > 0 && settled.readiness.progressing.length > 0;
  const lost = outcomes.flatMap(({ resource: id, conceded }) => (conceded === undefined ? [] : [{ id, conceded }]));
  return {
    outcomes,
    ...settled,
    problems: [...problemsOf(lost, prepared.gathered.loaded), ...settled.problems],
    failures: [...unspent, ...settled.failures],
    timedOut,
  };
}

function allDeleted(approved: Plan['approved'], outcomes: readonly Outcome[]): boolean {
  const deleted = new Set(
    outcomes.filter(({ action }) => action === 'deleted').map(({ resource }) => formatId(resource)),
  );
  return (approved?.guarded.deletions ?? []).every(({ id }) => deleted.has(id));
}

/**
 * Where a LIST failed, or a kind is not served for now, there may be members that nobody saw: then nothing is taken out
 * of the parent.
 */
function exactExtent(options: RunOptions, { snapshot, parent, ...prepared }: Prepared): Extent {
  const seen = extentOfMembers(membersOf(prepared), options.homeNamespace);
  const blind = snapshot.failures().length > 0 || kindsOf(parent.extent).some((kind) => !snapshot.served(kind));
  return blind ? union(seen, parent.extent) : seen;
}

async function declareExtent(deps: RunDeps, options: RunOptions, prepared: Prepared, extent: Extent): Promise<void> {
  const { instance, homeNamespace, tooling } = options;
  const parent = parentObject(prepared.parent.id, applySetId(instance, homeNamespace), extent, tooling);
  await deps.cluster.apply(parent, { force: true });
}

/** A run that could not see everything has failed already: there is nothing to wait for. */
function waitSecondsOf({ waitSeconds }: RunOptions, { snapshot }: Prepared): number {
  return snapshot.failures().length === 0 ? waitSeconds : 0;
}

async function sightOf({ cluster }: RunDeps, options: RunOptions, snapshot: Snapshot): Promise<Sight> {
  const pods = await troubledPods(cluster, snapshot, applySetId(options.instance, options.homeNamespace));
  const views = openViews({ apiGroup: options.apiGroup, layers: [snapshot.objects(), pods] });
  const departing = departingOf(options, snapshot);
  return { living: snapshot.find, views, complete: snapshot.failures().length === 0, departing };
}

function departingOf({ apiGroup, kinds, instance, homeNamespace }: RunOptions, snapshot: Snapshot): Sight['departing'] {
  const applySet = applySetId(instance, homeNamespace);
  return snapshot.objects().flatMap((object) => {
    if (object.metadata.deletionTimestamp === undefined || labelOf(object, PART_OF) !== applySet) return [];
    const kind = kinds.find((each) => each.kind === object.kind && groupOf(object.apiVersion) === apiGroup);
    return kind === undefined ? [] : [{ kind, object }];
  });
}

/** A registry's catalogue goes first: a run that ends in between finds the registry again, and deletes both. */
function withCatalogues(deps: RunDeps, options: RunOptions, { snapshot }: Prepared): Cluster['remove'] {
  const views = openViews({ apiGroup: options.apiGroup, layers: [snapshot.objects()] });
  return async (id, uid) => {
    const object = snapshot.find(id);
    if (object !== undefined) await emptyCatalogue(deps, { ...options, object, view: views(id.namespace ?? '') });
    await deps.cluster.remove(id, uid);
  };
}

async function lookAgain(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Sight> {
  const snapshot = await openSnapshot(deps.cluster, scopeOf(options.namespaces).names);
  await snapshot.ensure(prepared.watched);
  return sightOf(deps, options, snapshot);
}

function resultOf(deps: RunDeps, options: RunOptions, start: Start, prepared: Prepared, done: Done): RunResult {
  const { gathered, registries, snapshot, plan, problems } = prepared;
  return {
    id: options.id,
    commits: gathered.commits,
    quarantined: gathered.quarantined,
    startedAt: start.at,
    finishedAt: timestamp(deps.clock),
    plan,
    outcomes: done.outcomes,
    problems: [...problems, ...done.problems],
    failures: [...gathered.failures, ...registries.failures, ...snapshot.failures(), ...done.failures],
    warnings: [],
    catalogue: registries.outcomes,
    readiness: done.readiness,
    timedOut: done.timedOut,
    requests: deps.cluster.requests() - start.requests,
  };
}

interface Start {
  /** RFC 3339. */
  readonly at: string;
  readonly requests: number;
}

/** Kinds come and go between the runs of a process that stays. */
function startOf({ clock, cluster }: RunDeps): Start {
  cluster.refresh();
  return { at: timestamp(clock), requests: cluster.requests() };
}

export function leaseId({ instance, homeNamespace: namespace }: RunOptions): ResourceId {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: fieldManager(instance) };
}

function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
