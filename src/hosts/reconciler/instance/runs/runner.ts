// Makes the runs of an instance, each with a trace, a deadline, a record and a published state.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { admitNothing } from '#reconciler/run/plan-file/admission.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { type RunDeps, type RunOptions, reconcile } from '#reconciler/run/run.ts';
import type { Config } from '../../../config/config.ts';
import type { Tracing } from '../../../tracing.ts';
import { endInTime, withDeadline } from '../../loop/run-deadline.ts';
import { type OwnImageFinder, withOwnImage } from '../../own-image.ts';
import type { SnapshotPublisher } from '../snapshots.ts';
import type { InstanceWatch } from '../watch.ts';
import { type Listeners, recordLeftOut, runRecorded } from './recorded-run.ts';
import type { RepeatedRuns } from './repeated-run.ts';

/** Makes a run with `how` (default: `reconcile`), and records the run. Throws the errors of `how`. */
export type Run = (overrides?: Partial<RunOptions>, how?: typeof reconcile) => Promise<RunResult>;

interface Running extends Listeners {
  readonly config: Config;
  readonly deps: RunDeps;
  readonly options: (overrides?: Partial<RunOptions>) => RunOptions;
  readonly cluster: ConnectedCluster;
  readonly ownImage: OwnImageFinder | undefined;
  readonly tracing: Tracing | undefined;
  readonly watch: InstanceWatch;
  readonly publisher: SnapshotPublisher | undefined;
  readonly repeated: RepeatedRuns;
}

/** `ended`: callback that is called after each run. */
export function openRunner(running: Running, ended: () => void): Run {
  const { config, deps, options, cluster, ownImage, tracing, watch, publisher, repeated } = running;
  return (overrides = {}, how = reconcile) => {
    const optionsNow = (id?: string) => options({ ...admissionOf(config), ...overrides, ...(id && { id }) });
    const own = optionsNow();
    const looked = withOwnImage(ownImage, how, optionsNow);
    const limited = withDeadline(cluster, config.apply.deadlineSeconds, looked);
    return tracedRun(tracing, watch, own, () =>
      repeated.over(async () => {
        const result = await runRecorded(running, deps, own, limited);
        const warnings = (await publisher?.publish(deps, own, result)) ?? [];
        return { ...result, warnings: [...result.warnings, ...warnings] };
      }),
    ).finally(ended);
  };
}

/**
 * Returns a function that records and returns the result of the last run, if a new run would have the same result. The
 * function's requests have the deadline of a run.
 */
export function openRepeat(running: Running): (id: string) => Promise<RunResult | undefined> {
  const { config, deps, cluster, publisher, repeated } = running;
  return async (id) => {
    if (publisher?.isDue(deps.clock) === true) return undefined;
    const seconds = config.apply.deadlineSeconds;
    const known = await endInTime(cluster, seconds, () => repeated.repeat(id, deps.sources));
    return known && recordLeftOut(running, known);
  };
}

async function tracedRun(
  tracing: Tracing | undefined,
  { traced }: InstanceWatch,
  { id, instance }: RunOptions,
  run: () => Promise<RunResult>,
): Promise<RunResult> {
  if (tracing === undefined) return run();
  return tracing.span('run', { 'skep.run.id': id, 'skep.instance': instance }, async () => {
    const traceId = tracing.traceId();
    if (traceId === undefined) return run();
    traced?.(traceId);
    return { ...(await run()), traceId };
  });
}

/** If plans must be signed, runs admit no changes: only signed plan files make changes. */
function admissionOf({ plans }: Config): Pick<RunOptions, 'admit' | 'registriesAs'> {
  if (plans.require === 'unsigned') return {};
  return {
    registriesAs: 'living',
    admit: admitNothing('plans.require is signed: skep apply of a signed plan file makes it'),
  };
}
