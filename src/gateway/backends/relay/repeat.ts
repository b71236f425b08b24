// Repeats a task while two replicas work on one exchange. Each replica thereby notices that the other replica has
// stopped.

import type { BackendClock } from '../ports.ts';

const ALIVE_MS = 5000;

/** Repeats the task until the returned function is called. */
export function repeat(clock: BackendClock, task: () => void): () => void {
  let cancel = clock.after(ALIVE_MS, again);
  function again(): void {
    cancel = clock.after(ALIVE_MS, again);
    task();
  }
  return () => cancel();
}
