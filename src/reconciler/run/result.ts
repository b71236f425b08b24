// Defines the result of a run, for reports, exit codes and the next run.

import { keyOf } from '#kubernetes/rules/object.ts';
import type { Failure } from '#std/failure.ts';
import type { Problem } from '#std/problem.ts';
import type { ChangeOutcome } from './apply/apply.ts';
import type { CatalogueOutcome } from './catalogue/registries.ts';
import type { FoundField } from './diff/conceded.ts';
import type { Impact } from './impact/impact.ts';
import type { Explanation } from './plan/explain.ts';
import type { Change, Plan } from './plan/plan.ts';
import type { Wait } from './plan/waits.ts';
import type { Against } from './plan-file/unknown-here.ts';
import { problemsExit } from './problems-exit.ts';
import type { Quarantined } from './records/quarantine.ts';
import type { Suspension } from './records/suspension.ts';
import type { Rendered } from './render/rendered.ts';
import type { Readiness } from './settle/readiness.ts';

/** Reason why a run writes nothing. The plan then contains the changes that a run would make. */
export type Paused =
  | {
      readonly by: 'window';
      /** Sync window as skep.yaml defines it. */
      readonly window: string;
      /** Start of the next open time, in RFC 3339; absent if this time is too far away to compute. */
      readonly until?: string;
    }
  | ({ readonly by: 'suspension' } & Suspension);

export interface RunResult {
  readonly id: string;
  /** Commits by name of the source. Sources that could not be fetched are missing. */
  readonly commits: Readonly<Record<string, string>>;
  /** Sources that a rollback keeps at an earlier commit. */
  readonly quarantined: readonly Quarantined[];
  /** Sources that are kept unchanged until another source is applied and ready. */
  readonly waits: readonly Wait[];
  /** Time in RFC 3339. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly plan: Plan;
  /** Empty for a plan, because a plan makes no changes. */
  readonly outcomes: readonly ChangeOutcome[];
  /** Effects that clients notice; present if a plan is shown. */
  readonly impact?: Impact;
  readonly problems: readonly Problem[];
  /** Fields that other managers have set to values other than the declared ones. */
  readonly fields: readonly FoundField[];
  /** Failures that do not belong to a single change. */
  readonly failures: readonly Failure[];
  /** Failures that do not change the result of the run, such as a failed write of its record. */
  readonly warnings: readonly Failure[];
  readonly catalogue: readonly CatalogueOutcome[];
  readonly readiness: Readiness;
  /** Present if explanations were requested. */
  readonly explanations?: readonly Explanation[];
  readonly timedOut: boolean;
  /** Reason why the run wrote nothing, or stopped writing; absent if the run was allowed to write. */
  readonly paused?: Paused;
  readonly traceId?: string;
  readonly requests: number;
  /** Present if the plan was made against a snapshot. */
  readonly against?: Against;
  /** Present if two commits were compared. */
  readonly rendered?: Rendered;
}

/**
 * Returns the first code that applies, in the order 1 3 4 7 5 8 2 0. `skep --help` explains the codes. Code 6
 * (`locked`) is never returned: a locked run has no result. With `detailed`, code 2 means pending changes, or fields
 * that other managers keep. Without `detailed`, code 2 means pending changes of a paused run.
 */
export function exitCodeOf(result: RunResult, detailed = false): number {
  if (result.failures.length > 0) return 1;
  const problemsCode = problemsExit(result.problems);
  if (problemsCode !== 0) return problemsCode;
  if (result.outcomes.some((outcome) => outcome.action === 'failed')) return 7;
  if (result.catalogue.some((outcome) => outcome.action === 'failed')) return 7;
  if (result.outcomes.length === 0 && refusedChanges(result.plan).length > 0) return 7;
  if (result.plan.waiting.length > 0) return 5;
  if (result.outcomes.some(({ error }) => error !== undefined && WAITS.has(error.code))) return 5;
  if (result.timedOut) return 8;
  const pending = result.plan.batches.length + result.waits.length > 0;
  const drifted = detailed && result.fields.some(({ state }) => state === 'kept');
  return drifted || ((detailed || result.paused !== undefined) && pending) ? 2 : 0;
}

/** Codes of changes that are made after an approval, or with a signed plan. */
const WAITS: ReadonlySet<string> = new Set(['plan-required', 'source-at-fault']);

/** Returns the changes that the server would refuse. */
export function refusedChanges({ batches }: Plan): readonly Change[] {
  const changes = batches.flatMap((batch) => batch.changes);
  return changes.filter((change) => change.action !== 'delete' && change.preview?.result === 'refused');
}

export interface Summary {
  readonly created: number;
  readonly configured: number;
  readonly unchanged: number;
  readonly deleted: number;
  readonly held: number;
  readonly failed: number;
}

/**
 * Returns the number of objects that did not change. Objects that this run has written are unchanged in the final plan,
 * but are not counted here.
 */
function unchangedBefore({ plan, outcomes }: RunResult): number {
  if (outcomes.length === 0) return plan.unchanged.length;
  const written = new Set(outcomes.filter(({ error }) => error === undefined).map(({ resource }) => keyOf(resource)));
  return plan.unchanged.filter((id) => !written.has(keyOf(id))).length;
}

export function summaryOf(result: RunResult): Summary {
  function count(action: ChangeOutcome['action']): number {
    return result.outcomes.filter((outcome) => outcome.action === action).length;
  }
  return {
    created: count('created'),
    configured: count('configured'),
    unchanged: unchangedBefore(result) + count('unchanged'),
    deleted: count('deleted'),
    held: result.plan.held.length + count('held'),
    failed: count('failed'),
  };
}
