// Work of many short steps, at once or in turns with whatever else a thread has to do. Knows nothing about what is done.

import { setImmediate } from 'node:timers/promises';

/** Yields after each step. */
export type Steps<T> = Generator<void, T>;

/** So many of the shortest take some milliseconds. */
const AT_A_TIME = 100;

export function finishAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** In between, what was asked of others is sent, and their answers are read. Throws what a step throws. */
export async function finishInTurns<T>(steps: Steps<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (count % AT_A_TIME === 0) await setImmediate();
  }
}
