// Rolls back to the commits of an earlier run: marks the current commits as not to be used, and makes a run.

import { findRun } from '#reconciler/run/history/find.ts';
import { learnOlder, quarantine } from '#reconciler/run/operate/rollback.ts';
import type { Quarantined } from '#reconciler/run/records/quarantine.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunOptions } from '#reconciler/run/run.ts';
import { createReminder, type ReportWaiting } from '#reconciler/run/waiting.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../../clock.ts';
import type { Instance } from '../instance/instance.ts';

interface RollbackDeps {
  readonly instance: Instance;
  readonly waiting: ReportWaiting;
}

interface RollbackRequest {
  /** Id of the earlier run, or the beginning of its id. */
  readonly run: string;
  /** Number of runs to read from the history. */
  readonly limit: number;
  /** If set, throws a Failure and writes nothing unless the rollback takes exactly these commits out of use. */
  readonly confirmed?: readonly Quarantined[];
  /** Options of the run after the rollback. */
  readonly overrides?: Partial<RunOptions>;
}

/** Throws Failure `run-not-found`, `rollback-impossible`, `rollback-changed`, or a Failure of the run. */
export async function runRollback(deps: RollbackDeps, request: RollbackRequest): Promise<RunResult> {
  const { instance } = deps;
  const home = instance.options();
  const history = await instance.history.latest(request.limit);
  const made = await quarantine(instance.deps, home, findRun(history, request.run), history, request.confirmed);
  const result = await runWhenFree(deps, request.overrides);
  const unknown = await learnOlder(instance.deps, home, made).catch(unlessFailure);
  return { ...result, warnings: [...result.warnings, ...unknown.map(historyUnknown)] };
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * Makes a run as soon as no other run holds the lease. A run in progress may still apply the commits that were rolled
 * back.
 */
async function runWhenFree(
  { instance, waiting }: RollbackDeps,
  overrides: Partial<RunOptions> | undefined,
): Promise<RunResult> {
  const deadline = systemClock.monotonic() + PATIENCE_MS;
  const remind = createReminder(systemClock, waiting);
  for (;;) {
    try {
      return await instance.run(overrides);
    } catch (error) {
      const leftMs = deadline - systemClock.monotonic();
      if (!(error instanceof Failure) || error.code !== 'locked' || leftMs <= 0) throw error;
      remind({ for: 'lease', holder: String(error.data.holder), leftMs });
    }
    await systemClock.sleep(PAUSE_MS);
  }
}

function unlessFailure(error: unknown): readonly Failure[] {
  if (error instanceof Failure) return [error];
  throw error;
}

function historyUnknown(cause: Failure): Failure {
  const message = `the history before the replaced commit is unknown: ${cause.message} [${cause.code}]`;
  return new Failure('rollback-history-unknown', message, { cause });
}
