// Everything a run does before it writes to the cluster, as three phases: what is observed, what is desired, what is
// planned.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Problem } from '#std/problem.ts';
import { type DesireDeps, type DesiredFleet, type DesireOptions, desireFleet } from './desire/fleet.ts';
import type { Random } from './desire/generated.ts';
import type { SyncMode } from './instance.ts';
import { ofOthers } from './observe/by-hand.ts';
import { type ObserveDeps, type Observed, type ObserveOptions, observe } from './observe/observe.ts';
import { type Planned, planFor } from './plan/plan-for.ts';
import type { PlanDeps, PlanOptions } from './plan/planned-from.ts';
import { enforce } from './policy/enforce.ts';
import type { Gathered } from './read/gather.ts';

export interface PrepareDeps extends ObserveDeps, DesireDeps, PlanDeps {
  readonly clock: DesireDeps['clock'];
  readonly sources: ObserveDeps['sources'];
}

export interface PrepareOptions extends ObserveOptions, DesireOptions, PlanOptions {}

/** The phases side by side; `problems` are those of all of them. What policies deny is invalid in `gathered`. */
export interface Prepared extends Observed, DesiredFleet, Planned {
  readonly problems: readonly Problem[];
}

/**
 * Throws Failure where the cluster cannot be asked at all; what single sources or LISTs refuse is in the result. `before`:
 * what this very run has prepared already.
 */
export async function prepare(
  deps: PrepareDeps,
  options: PrepareOptions,
  mode: SyncMode,
  before?: Pick<Prepared, 'registries' | 'previews' | 'snapshot'>,
): Promise<Prepared> {
  const seen = await observe(deps, options, before);
  const { gathered, judge } = await enforce(deps, options, seen.gathered, seen.leftAlone);
  const observed: Observed = { ...seen, gathered };
  const desired = await desireFleet(deps, options, mode, { ...observed, judge, synced: before?.registries });
  const planned = await planFor(deps, options, { ...observed, ...desired, mode, previews: before?.previews });
  const problems = [gathered, desired, planned].flatMap((phase) => phase.problems);
  return { ...observed, ...desired, ...planned, problems: problems.flatMap(reportable(gathered)) };
}

/** Under the lock: where digests are missing because there is no key yet, it is made, and all is prepared with it. */
export async function sealDigests(
  deps: PrepareDeps & { readonly random: Random },
  options: PrepareOptions,
  prepared: Prepared,
): Promise<Prepared> {
  if (!prepared.unsealed) return prepared;
  await deps.digestKey.make(deps.random);
  return prepare(deps, options, 'sync', prepared);
}

/** Of what someone applied by hand there are warnings only. */
function reportable({ loaded }: Gathered): (problem: Problem) => readonly Problem[] {
  const byHand = new Set(loaded.filter((each) => each.byHand === true).map(({ id }) => keyOf(id)));
  return (problem) => {
    const { resource } = problem;
    return resource !== undefined && byHand.has(keyOf(resource)) ? ofOthers(problem) : [problem];
  };
}
