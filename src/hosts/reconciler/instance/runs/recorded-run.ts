// Makes a run, records the run and notifies receivers.

import type { RunRecord } from '#reconciler/run/history/ports.ts';
import { failedRecord, recordOf } from '#reconciler/run/history/record.ts';
import type { Notices } from '#reconciler/run/notify/tell.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunDeps, RunOptions, reconcile } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Recorder } from '../recorder.ts';

export interface Listeners {
  readonly recorder: Recorder;
  readonly notifier: Notices | undefined;
}

/** Records and reports the run, also if it throws a Failure other than the codes in OF_ANOTHER. */
export async function runRecorded(
  listeners: Listeners,
  deps: RunDeps,
  options: RunOptions,
  how: typeof reconcile,
): Promise<RunResult> {
  const startedAt = new Date(deps.clock.now()).toISOString();
  try {
    const result = await how(deps, options);
    // A paused run changes nothing, and a run without its lock may not know the current state. Such runs are not
    // recorded, so that no rollback returns to them.
    if (result.paused !== undefined || lostItsLock(result)) return result;
    const warnings = await tellOf(listeners, recordOf(result), result.readiness.ready);
    return { ...result, warnings: [...result.warnings, ...warnings] };
  } catch (error) {
    if (error instanceof Failure && !OF_ANOTHER.includes(error.code)) {
      const finishedAt = new Date(deps.clock.now()).toISOString();
      await tellOf(listeners, failedRecord({ id: options.id, startedAt, finishedAt }, error), []);
    }
    throw error;
  }
}

/**
 * Records and reports the repeated result of an earlier run. Earlier records may be incomplete, and receivers may have
 * missed notices.
 */
export async function recordLeftOut(listeners: Listeners, result: RunResult): Promise<RunResult> {
  const warnings = await tellOf(listeners, recordOf(result), result.readiness.ready);
  return { ...result, warnings: [...result.warnings, ...warnings] };
}

/**
 * Codes of runs that this process does not record. If the lock is held, its holder records its own runs. A run that has
 * lost its lock must write nothing more.
 */
const OF_ANOTHER: readonly string[] = ['locked', 'lock-lost'];

function lostItsLock({ outcomes, failures }: RunResult): boolean {
  const codes = [...outcomes.map(({ error }) => error?.code ?? ''), ...failures.map(({ code }) => code)];
  return codes.some((code) => OF_ANOTHER.includes(code));
}

async function tellOf(
  { recorder, notifier }: Listeners,
  record: RunRecord,
  ready: readonly ResourceId[],
): Promise<readonly Failure[]> {
  const [unrecorded, unsent] = await Promise.all([recorder.record(record, ready), notifier?.tell(record)]);
  return [...unrecorded, ...(unsent ?? [])];
}
