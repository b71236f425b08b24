// Approves what waits: plans as the next run would, and where exactly the named list of deletions waits, stores that it
// may go. Knows nothing about who asks.

import { Failure } from '../../std/failure.ts';
import type { DeletionList } from '../prune/guard.ts';
import { storeApproval } from '../records/approval.ts';
import type { RunResult } from '../result.ts';
import { planOnly, type RunDeps, type RunOptions } from '../run.ts';

export interface Approved {
  readonly list: DeletionList;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Throws Failure `approval-not-waiting` where no list of that hash waits, or what kept the plan from being whole. A list
 * that is approved already is approved anew; one that needs no approval may get one, for the case that something of its
 * source fails.
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
  const expiresAt = new Date(deps.clock.now() + expiresHours * HOUR_MS).toISOString();
  await storeApproval(deps, options, list, expiresAt);
  return { list, expiresAt };
}

const HOUR_MS = 3_600_000;

/** The list that was meant may be another only because something could not be read. */
function notWaiting(hash: string, { plan, failures }: RunResult): Failure {
  const [failure] = failures;
  if (failure !== undefined) return failure;
  const waiting = plan.waiting.map(
    ({ deletions, source, hash: other }) => `${deletions.length} of source ${source} as ${other}`,
  );
  const now = waiting.length === 0 ? 'no deletions wait' : `these wait: ${waiting.join(', ')} (skep plan shows them)`;
  return new Failure('approval-not-waiting', `no deletions wait as ${hash}: they are done, or others by now; ${now}`);
}
