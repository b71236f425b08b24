// How often two replicas that work on one exchange look after each other.

import type { BackendClock } from '../ports.ts';

const ALIVE_MS = 5000;

/** Until it is taken back. */
export function repeat(clock: BackendClock, task: () => void): () => void {
  let cancel = clock.after(ALIVE_MS, again);
  function again(): void {
    cancel = clock.after(ALIVE_MS, again);
    task();
  }
  return () => cancel();
}
