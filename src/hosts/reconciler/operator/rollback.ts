// Rolls back to the commits of an earlier run: marks the current commits as not to be used, and makes a run. A preview
// returns the commits and the changes of that run, and writes nothing.

import { findRun } from '#reconciler/run/history/find.ts';
import { findDifferences, learnOlder, quarantine } from '#reconciler/run/operate/rollback.ts';
import type { Quarantined } from '#reconciler/run/records/quarantine.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunOptions } from '#reconciler/run/run.ts';
import { createReminder, type ReportWaiting } from '#reconciler/run/waiting.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import type { Instance } from '../instance/instance.ts';
import { useOpened } from './opened.ts';
import { openForPlan, planNow } from './plan.ts';

export interface RollbackPreview {
  /** Id of the run that the rollback returns to. */
  readonly run: string;
  /** End of that run (RFC 3339). */
  readonly at: string;
  /** Sources with another commit than that run, and their commits. */
  readonly found: readonly Quarantined[];
  readonly changes: readonly RollbackChange[];
}

interface RollbackChange {
  readonly action: string;
  readonly resource: string;
  /** Set for a deletion that waits for an approval first. */
  readonly waits?: true;
}

interface RollbackDeps {
  readonly instance: Instance;
  readonly waiting: ReportWaiting;
}

interface RollbackTarget {
  /** Id of the earlier run, or the beginning of its id. */
  readonly run: string;
  /** Number of runs to read from the history. */
  readonly limit: number;
  /** If set, only these commits may be taken out of use. Otherwise throws `rollback-changed` and writes nothing. */
  readonly confirmed?: readonly Quarantined[];
}

interface RollbackRequest extends RollbackTarget {
  /** Options of the run after the rollback. */
  readonly overrides?: Partial<RunOptions>;
}

/**
 * Throws Failure `run-not-found` or `rollback-impossible`, or the Failure that keeps the preview from being complete.
 */
export async function previewRollback(
  { deps, history }: Pick<Instance, 'deps' | 'history'>,
  config: Config,
  start: string,
  signal?: AbortSignal,
): Promise<RollbackPreview> {
  const runs = await history.latest(config.history.limit);
  const to = findRun(runs, start);
  const found = await findDifferences(deps, to, runs);
  const planned = { commits: new Map(Object.entries(to.commits)), isSigned: false };
  const changes = await useOpened(openForPlan(config, planned), (planner) => plannedChanges(planner, config), signal);
  return { run: to.id, at: to.finishedAt, found, changes };
}

async function plannedChanges(planner: Instance, config: Config): Promise<readonly RollbackChange[]> {
  const { result } = await planNow(planner, config);
  const [failure] = result.failures;
  if (failure !== undefined) throw failure;
  const { batches, waiting } = result.plan;
  return [
    ...batches.flatMap(({ changes }) =>
      changes.map(({ action, resource }): RollbackChange => ({ action, resource: formatId(resource) })),
    ),
    ...waiting.flatMap(({ deletions }) =>
      deletions.map(({ id }): RollbackChange => ({ action: 'delete', resource: id, waits: true })),
    ),
  ];
}

/** Throws Failure `run-not-found`, `rollback-impossible`, `rollback-changed`, or a Failure of the run. */
export async function runRollback(deps: RollbackDeps, request: RollbackRequest): Promise<RunResult> {
  const made = await beginRollback(deps.instance, request);
  const result = await runWhenFree(deps, request.overrides);
  return { ...result, warnings: [...result.warnings, ...(await learnHistory(deps.instance, made))] };
}

/**
 * Takes the present commits out of use, so that the next run uses the earlier commits. Throws Failure `run-not-found`,
 * `rollback-impossible` or `rollback-changed`.
 */
export async function beginRollback(
  instance: Instance,
  { run, limit, confirmed }: RollbackTarget,
): Promise<readonly Quarantined[]> {
  const history = await instance.history.latest(limit);
  return quarantine(instance.deps, instance.options(), findRun(history, run), history, confirmed);
}

/** Takes older commits of the same branches out of use as well. Returns warnings. */
export async function learnHistory(instance: Instance, made: readonly Quarantined[]): Promise<readonly Failure[]> {
  const unknown = await learnOlder(instance.deps, instance.options(), made).catch(unlessFailure);
  return unknown.map(historyUnknown);
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
