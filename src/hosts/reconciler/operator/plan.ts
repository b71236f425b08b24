// Plans the next run of an instance in its cluster.

import { impactOfPlan } from '#reconciler/run/impact/impact.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { findPause, planInstance } from '#reconciler/run/run.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { PlannedCommits } from '../instance/fleet-source.ts';
import { type Instance, openInstance } from '../instance/instance.ts';
import { findPauseNow } from '../instance/paused-now.ts';
import { watchSources } from '../instance/watch.ts';
import { openSourceLoops, patienceOnce } from '../loop/source-loops.ts';

/** Plan, with the data from which it was made. */
export interface Planned {
  readonly result: RunResult;
  readonly prepared: Prepared;
}

/** Opens an instance for a plan, which waits for sources as long as a single run does. */
export function openForPlan(config: Config, commits?: PlannedCommits): Promise<Instance> {
  const loops = openSourceLoops(systemClock, patienceOnce(config), () => undefined);
  return openInstance(config, () => undefined, watchSources(), commits, {
    endsWithinMs: config.apply.deadlineSeconds * 1000,
    loops,
    once: true,
  });
}

export async function planNow({ deps, options }: Instance, config: Config): Promise<Planned> {
  const chosen = options(await findPauseNow(config, {}));
  const [made, paused] = await Promise.all([planInstance(deps, chosen), findPause(deps, chosen)]);
  return paused === undefined ? made : { ...made, result: { ...made.result, paused } };
}

/** Adds the effects that clients would notice. Adds none if a part of the cluster could not be read. */
export async function addImpact({ apiGroup }: Config, { result, prepared }: Planned): Promise<RunResult> {
  const { KINDS } = await import('#reconciler/kinds/index.ts');
  // Objects that could not be read may exist and have clients.
  const isUnread = result.failures.some(({ code }) => code.startsWith('cluster-'));
  const impact = isUnread ? undefined : impactOfPlan({ kinds: KINDS, apiGroup }, prepared, result.plan);
  return { ...result, impact };
}
