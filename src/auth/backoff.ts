// Computes the time of the next request to a failed provider.

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export interface Backoff {
  readonly failures: number;
  /** Time of the next request, in monotonic milliseconds. */
  readonly retryAt: number;
}

export const NO_BACKOFF: Backoff = { failures: 0, retryAt: Number.NEGATIVE_INFINITY };

/** Waits 1 s after the first failure, and doubles the wait up to 30 s. */
export function afterFailure(backoff: Backoff, monotonicMs: number): Backoff {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** backoff.failures, LONGEST_WAIT_MS);
  return { failures: backoff.failures + 1, retryAt: monotonicMs + waitMs };
}
