// Calculates the delay before a process that ended is started again.

import type { BackendClock } from '../ports.ts';

const FIRST_MS = 500;
const LAST_MS = 30_000;

/**
 * Returns a delay in milliseconds. Delays double with each attempt and are random, so that replicas do not start at the
 * same time.
 */
export function restartDelay(attempts: number, clock: Pick<BackendClock, 'random'>): number {
  const full = Math.min(LAST_MS, FIRST_MS * 2 ** attempts);
  const share = (clock.random(1)[0] ?? 0) / 255;
  return full * (0.75 + share / 4);
}
