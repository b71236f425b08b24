// Prepares a run in three phases, before it writes to the cluster: observed state, desired state, and plan.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Problem } from '#std/problem.ts';
import { type DesireDeps, type DesiredFleet, type DesireOptions, desireFleet } from './desire/fleet.ts';
import type { Random } from './desire/generated.ts';
import type { SyncMode } from './instance.ts';
import { labelValue } from './labels.ts';
import { ofOthers } from './observe/by-hand.ts';
import { type ObserveDeps, type Observed, type ObserveOptions, observe } from './observe/observe.ts';
import { type Planned, planFor } from './plan/plan-for.ts';
import type { PlanDeps, PlanOptions } from './plan/planned-from.ts';
import { NO_WAITS, type Waits } from './plan/waits.ts';
import { enforce } from './policy/enforce.ts';
import type { Gathered } from './read/gather.ts';

export interface PrepareDeps extends ObserveDeps, DesireDeps, PlanDeps {
  readonly clock: DesireDeps['clock'];
  readonly sources: ObserveDeps['sources'];
}

export interface PrepareOptions extends ObserveOptions, DesireOptions, PlanOptions {}

/** Results of all phases. In `gathered`, objects that policies deny are among the invalid objects. */
export interface Prepared extends Observed, DesiredFleet, Planned {
  readonly problems: readonly Problem[];
}

/**
 * Prepares a run. Throws Failure if the cluster does not respond at all. Failures of single sources or LISTs are in the
 * result. `before` is the result of an earlier call in the same run.
 */
export async function prepare(
  deps: PrepareDeps,
  options: PrepareOptions,
  mode: SyncMode,
  before?: Pick<Prepared, 'registries' | 'previews' | 'snapshot'>,
): Promise<Prepared> {
  const observedNow = await observe(deps, options, before);
  const { gathered, evaluator } = await enforce(deps, options, observedNow.gathered, observedNow.leftAlone);
  const observed: Observed = { ...observedNow, gathered };
  const known = { ...observed, evaluator, synced: before?.registries };
  const begin = async (how: SyncMode, waits = NO_WAITS) => {
    const desired = await desireFleet(deps, options, how, { ...known, waits });
    const planned = await planFor(deps, options, {
      ...observed,
      ...desired,
      mode: how,
      waits,
      previews: before?.previews,
    });
    return { desired, planned };
  };
  // Only a plan shows which sources wait, but registries are synced before planning. If a waiting source may declare a
  // registry, the run first plans without syncs.
  const waits = mode === 'sync' && mayHoldSyncs(deps, gathered) ? (await begin('read')).planned.waits : NO_WAITS;
  const { desired, planned } = await begin(mode, waits);
  const problems = [gathered, desired, planned].flatMap((phase) => phase.problems);
  const reported = problems.flatMap(reportable(gathered)).map(expected(gathered, planned.waits));
  return { ...observed, ...desired, ...planned, problems: reported };
}

/** Returns true if a source with `dependsOn` declares a registry with sources. */
function mayHoldSyncs({ sources }: PrepareDeps, { loaded }: Gathered): boolean {
  const dependents = new Set(sources.flatMap(({ name, dependsOn = [] }) => (dependsOn.length === 0 ? [] : [name])));
  return loaded.some(
    ({ source, kind, defaulted }) =>
      dependents.has(source) && defaulted !== undefined && (kind?.sources(defaulted).length ?? 0) > 0,
  );
}

/**
 * Codes of problems that may disappear. A waiting source may refer to objects that do not exist yet, because the source
 * for which it waits declares them.
 */
const MAY_COME: ReadonlySet<string> = new Set([
  'kind-not-served',
  'reference-missing',
  'reference-key-missing',
  'needs-refused',
]);

function expected({ loaded }: Gathered, waits: Waits): (problem: Problem) => Problem {
  if (waits.size === 0) return (problem) => problem;
  const waiting = new Set(loaded.filter(({ source }) => waits.has(labelValue(source))).map(({ id }) => keyOf(id)));
  return (problem) => {
    const { code, resource } = problem;
    const comes = MAY_COME.has(code) && resource !== undefined && waiting.has(keyOf(resource));
    return comes ? { ...problem, severity: 'warning' } : problem;
  };
}

/**
 * Creates the key of digests and prepares again, if digests are needed and the key does not exist. May be called only
 * while the run holds the Lease.
 */
export async function sealDigests(
  deps: PrepareDeps & { readonly random: Random },
  options: PrepareOptions,
  prepared: Prepared,
): Promise<Prepared> {
  if (!prepared.unsealed) return prepared;
  await deps.digestKey.make(deps.random);
  return prepare(deps, options, 'sync', prepared);
}

/**
 * Returns a filter for problems. Errors about objects applied by hand become warnings. Warnings about such objects are
 * dropped.
 */
function reportable({ loaded }: Gathered): (problem: Problem) => readonly Problem[] {
  const byHand = new Set(loaded.filter((each) => each.byHand === true).map(({ id }) => keyOf(id)));
  return (problem) => {
    const { resource } = problem;
    return resource !== undefined && byHand.has(keyOf(resource)) ? ofOthers(problem) : [problem];
  };
}
