// Everything that a run writes, under the lock: the ApplySet parent, the changes, and then statuses. Knows nothing about
// locks or how a plan comes about.

import { groupOf, keyOf } from '../kube/object.ts';
import type { Failure } from '../std/failure.ts';
import { formatId, type Problem } from '../std/problem.ts';
import { UNTRACED } from '../std/trace.ts';
import { apply, type Outcome } from './apply.ts';
import { type Extent, extentOfMembers, kindsOf, parentObject, sameExtent, union } from './applyset.ts';
import { beginApproved, spendApproval } from './approval.ts';
import { areServed, awaitedKinds } from './awaited-kinds.ts';
import { problemsOf } from './conceded.ts';
import { applySetId, labelOf, PART_OF } from './labels.ts';
import type { Plan } from './plan.ts';
import type { Cluster } from './ports.ts';
import { livingUids, membersOf, type Prepared, prepare } from './prepare.ts';
import type { Readiness } from './readiness.ts';
import type { RunDeps, RunOptions } from './reconcile.ts';
import { emptyCatalogue } from './registries.ts';
import { scopeOf } from './scope.ts';
import { type Sight, settle } from './settle.ts';
import { settleInput } from './settle-input.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import { troubledPods } from './troubled-pods.ts';
import { openViews } from './view.ts';

/** What came of a run beyond its plan. */
export interface Done {
  readonly outcomes: readonly Outcome[];
  readonly readiness: Readiness;
  readonly failures: readonly Failure[];
  readonly problems: readonly Problem[];
  readonly timedOut: boolean;
}

export interface Written {
  readonly done: Done;
  /** What it was made of; where kinds came to be served in between, as it was looked at with them. */
  readonly prepared: Prepared;
}

export async function write(deps: RunDeps, options: RunOptions, first: Prepared): Promise<Written> {
  const { prepared, outcomes, failures, superset } = await changeAll(deps, options, first);
  const waitSeconds = waitSecondsOf(options, prepared);
  const deadline = deps.clock.monotonic() + waitSeconds * 1000;
  const see = (): Promise<Sight> => lookAgain(deps, options, prepared);
  const sight = await (outcomes.length === 0 ? sightOf(deps, options, prepared.snapshot) : see());
  const input = settleInput(options, prepared, outcomes);
  const { trace = UNTRACED } = deps;
  const settled = await trace.span('settle', {}, () =>
    settle({ ...deps, instance: options.instance }, input, sight, see, deadline),
  );

  const complete = outcomes.every(({ action }) => action !== 'failed' && action !== 'held');
  const exact = exactExtent(options, prepared);
  if (complete && !sameExtent(exact, superset)) await declareExtent(deps, options, prepared, exact);
  const timedOut = waitSeconds > 0 && settled.readiness.progressing.length > 0;
  const lost = outcomes.flatMap(({ resource: id, conceded }) => (conceded === undefined ? [] : [{ id, conceded }]));
  const problems = [...problemsOf(lost, prepared.gathered.loaded), ...settled.problems];
  return { prepared, done: { outcomes, ...settled, problems, failures: [...failures, ...settled.failures], timedOut } };
}

interface Changed {
  readonly prepared: Prepared;
  readonly outcomes: readonly Outcome[];
  readonly failures: readonly Failure[];
  /** What the ApplySet parent says now. */
  readonly superset: Extent;
}

/** Once, and once more where definitions of kinds were applied whose objects wait for them. */
async function changeAll(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Changed> {
  const changed = await change(deps, options, prepared);
  // A plan that was made before has no objects of such kinds.
  if (options.admit !== undefined) return changed;
  const awaited = awaitedKinds(prepared.gathered.loaded, prepared.snapshot.served, changed.outcomes);
  if (awaited.length === 0 || !(await areServed(deps, awaited))) return changed;
  const next = await change(deps, options, await prepare(deps, options, 'sync', prepared));
  const again = new Set(next.outcomes.map(({ resource }) => keyOf(resource)));
  const standing = changed.outcomes.filter(({ action, resource }) => !isStuck(action) || !again.has(keyOf(resource)));
  return { ...next, outcomes: [...standing, ...next.outcomes], failures: [...changed.failures, ...next.failures] };
}

function isStuck(action: Outcome['action']): boolean {
  return action === 'failed' || action === 'held';
}

async function change(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Changed> {
  const before = prepared.parent.extent;
  const superset = union(exactExtent(options, prepared), before);
  if (!sameExtent(superset, before)) await declareExtent(deps, options, prepared, superset);

  const { plan, snapshot } = prepared;
  const { cluster, clock, random, progress, trace = UNTRACED } = deps;
  const approval = plan.approved === undefined ? undefined : await beginApproved(deps, plan.approved.approval);
  const outcomes = await apply(
    { cluster: { ...cluster, remove: withCatalogues(deps, options, prepared) }, clock, random, progress, trace },
    { plan, uids: livingUids(snapshot), force: options.conflicts === 'force' },
  );
  const spent = approval !== undefined && allDeleted(plan.approved, outcomes);
  return { prepared, outcomes, superset, failures: spent ? await spendApproval(cluster, approval) : [] };
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
export function exactExtent(options: RunOptions, { snapshot, parent, ...prepared }: Prepared): Extent {
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
export function waitSecondsOf({ waitSeconds }: RunOptions, { snapshot }: Prepared): number {
  return snapshot.failures().length === 0 ? waitSeconds : 0;
}

export async function sightOf({ cluster }: RunDeps, options: RunOptions, snapshot: Snapshot): Promise<Sight> {
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
  return async (id, uid, as) => {
    const object = snapshot.find(id);
    if (object !== undefined) await emptyCatalogue(deps, { ...options, object, view: views(id.namespace ?? '') });
    await deps.cluster.remove(id, uid, as);
  };
}

async function lookAgain(deps: RunDeps, options: RunOptions, prepared: Prepared): Promise<Sight> {
  const snapshot = await openSnapshot(deps.cluster, scopeOf(options.namespaces).names);
  await snapshot.ensure(prepared.watched);
  return sightOf(deps, options, snapshot);
}
