// Approves what waits: plans as the next run would, and where exactly the named list of deletions waits, stores that it
// may go. Knows nothing about who asks.

import { Failure } from '../../std/failure.ts';
import type { Guarded } from '../prune/guard.ts';
import { storeApproval } from '../records/approval.ts';
import type { RunResult } from '../result.ts';
import { planOnly, type RunDeps, type RunOptions } from '../run.ts';

export interface Approved {
  readonly guarded: Guarded;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Throws Failure `approval-not-waiting` where no list of that hash waits, or what kept the plan from being whole. A list
 * that is approved already is approved anew.
 */
export async function approve(
  deps: RunDeps,
  options: RunOptions,
  hash: string,
  expiresHours: number,
): Promise<Approved> {
  const result = await planOnly(deps, options);
  const { guarded: waiting, approved } = result.plan;
  const guarded = waiting ?? approved?.guarded;
  if (guarded === undefined || ![guarded.hash, approved?.approval.hash].includes(hash)) throw notWaiting(hash, result);
  const expiresAt = new Date(deps.clock.now() + expiresHours * HOUR_MS).toISOString();
  await storeApproval(deps.cluster, options, guarded, expiresAt);
  return { guarded, expiresAt };
}

const HOUR_MS = 3_600_000;

/** The list that was meant may be another only because something could not be read. */
function notWaiting(hash: string, { plan: { guarded }, failures }: RunResult): Failure {
  const [failure] = failures;
  if (failure !== undefined) return failure;
  const now =
    guarded === undefined
      ? 'no deletions wait'
      : `${guarded.deletions.length} deletions wait as ${guarded.hash} (skep plan shows them)`;
  return new Failure('approval-not-waiting', `no deletions wait as ${hash}: they are done, or others by now; ${now}`);
}
