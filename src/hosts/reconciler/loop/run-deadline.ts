// Ends a run that exceeds its deadline. After the deadline the run begins no change, and some time later it sends no
// request.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { RUN_DEADLINE } from '#reconciler/run/apply/apply.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import type { RunOptions, reconcile } from '#reconciler/run/run.ts';
import { Failure } from '#std/failure.ts';
import { formatId } from '#std/problem.ts';
import { systemClock } from '../../clock.ts';

/** Additional time for writing statuses. */
const CLOSING_MS = 10_000;
const NAMED_MAX = 3;

/** Returns `how` with a deadline. The caller records the run after `how` has ended, without this deadline. */
export function withDeadline(
  cluster: Pick<ConnectedCluster, 'limit'>,
  seconds: number,
  how: typeof reconcile,
): typeof reconcile {
  return async (deps, options) => {
    const changesUntil = systemClock.monotonic() + seconds * 1000;
    const requestsUntil = changesUntil + options.waitSeconds * 1000 + CLOSING_MS;
    cluster.limit({ changesUntil, requestsUntil, setting: settingOf(seconds) });
    try {
      return withFailure(await how(deps, options), options, seconds);
    } finally {
      cluster.limit(undefined);
    }
  };
}

/** Aborts requests of `work` that are in flight after this many seconds. */
export async function endInTime<T>(
  cluster: Pick<ConnectedCluster, 'limit'>,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const until = systemClock.monotonic() + seconds * 1000;
  cluster.limit({ changesUntil: until, requestsUntil: until, setting: settingOf(seconds) });
  try {
    return await work();
  } finally {
    cluster.limit(undefined);
  }
}

function settingOf(seconds: number): string {
  return `apply.deadlineSeconds: ${seconds}`;
}

function withFailure(result: RunResult, { id }: RunOptions, seconds: number): RunResult {
  const left = result.outcomes.filter(({ error }) => error?.code === RUN_DEADLINE);
  if (left.length === 0) return result;
  const named = left.slice(0, NAMED_MAX).map(({ resource }) => formatId(resource));
  const more = left.length > NAMED_MAX ? ` and ${left.length - NAMED_MAX} more` : '';
  const message = `run ${id} has reached its deadline (${settingOf(seconds)}), and ${left.length} changes were not begun: ${named.join(', ')}${more}; the next run continues there`;
  return { ...result, failures: [...result.failures, new Failure('run-deadline', message, { retryable: true })] };
}
