// Approves a waiting list of deletions: plans like the next run, and stores the approval if the named list still
// exists.

import { Failure } from '#std/failure.ts';
import { countText } from '#std/words/count-text.ts';
import type { DeletionList } from '../prune/guard.ts';
import { storeApproval } from '../records/approval.ts';
import type { RunResult } from '../result.ts';
import { planOnly, type RunDeps, type RunOptions } from '../run.ts';

export interface Approved {
  readonly list: DeletionList;
  /** Time in RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Approves the list with this hash. Throws Failure `approval-not-waiting` if the plan has no list with this hash, or
 * the failure that made the plan incomplete. A list that is approved already, or that needs no approval, can be
 * approved too: its source may fail later.
 */
export async function approve(
  deps: RunDeps,
  options: RunOptions,
  hash: string,
  expiresHours: number,
): Promise<Approved> {
  const result = await planOnly(deps, options);
  const { waiting, approved, within } = result.plan;
  const list = [...waiting, ...approved, ...within].find((each: DeletionList) =>
    [each.hash, each.approval?.hash].includes(hash),
  );
  if (list === undefined) throw notWaiting(hash, result);
  return approveList(deps, options, list, expiresHours);
}

/**
 * Plans as the next run would, and returns the list with the hash if it waits for approval now. Throws Failure
 * `approval-not-waiting` if no such list waits, or the failure that made the plan incomplete.
 */
export async function findWaitingList(deps: RunDeps, options: RunOptions, hash: string): Promise<DeletionList> {
  const result = await planOnly(deps, options);
  const list = result.plan.waiting.find((each) => each.hash === hash);
  if (list === undefined) throw notWaiting(hash, result);
  return list;
}

/** Approves a list of a plan that was just computed. */
export async function approveList(
  deps: RunDeps,
  options: RunOptions,
  list: DeletionList,
  expiresHours: number,
): Promise<Approved> {
  const expiresAt = new Date(deps.clock.now() + expiresHours * HOUR_MS).toISOString();
  await storeApproval(deps, options, list, expiresAt);
  return { list, expiresAt };
}

const HOUR_MS = 3_600_000;

/**
 * Returns the failure for a hash without a list. If the plan had a failure, returns that failure, because it may have
 * changed the list.
 */
function notWaiting(hash: string, { plan, failures }: Pick<RunResult, 'plan' | 'failures'>): Failure {
  const [failure] = failures;
  if (failure !== undefined) return failure;
  const waiting = plan.waiting.map(
    ({ deletions, source, hash: other }) => `${whatWaits(deletions.length, source)} (${other})`,
  );
  const now = waiting.length === 0 ? 'no list waits now' : `waiting now: ${waiting.join(', ')} (skep plan shows them)`;
  const message = `no list with the hash ${hash} waits: its deletions were done, or the list has changed; ${now}`;
  return new Failure('approval-not-waiting', message);
}

/**
 * Describes the list. A list without deletions stands for all changes of the run, and waits if the instance has read
 * only other sources before.
 */
function whatWaits(deletions: number, source: string): string {
  if (deletions === 0) return 'all changes';
  const count = countText(deletions, 'deletion');
  return source === '' ? count : `${count} of source ${source}`;
}
