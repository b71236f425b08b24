// Runs work of many short steps, either without pauses or with pauses in which the thread does other work.

import { setImmediate } from 'node:timers/promises';

/** Work that yields after each step. */
export type Steps<T> = Generator<void, T>;

/** Number of steps between two pauses. For small files, a hundred steps take a few milliseconds. */
const AT_A_TIME = 100;

/** Lets the thread do other work, such as sending requests. */
export async function takeTurn(): Promise<void> {
  await setImmediate();
}

export function finishAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Runs the steps with a pause after every hundred steps, so that requests are sent and responses are read. Throws the
 * error of a step.
 */
export async function finishInTurns<T>(steps: Steps<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (count % AT_A_TIME === 0) await takeTurn();
  }
}

/**
 * Begins the work on the items, a hundred at a time, without waiting for results. The first requests are sent while
 * later items are prepared. Throws the error of an item, and then begins no further items.
 */
export async function beginInTurns<T, R>(items: readonly T[], begin: (item: T) => Promise<R>): Promise<R[]> {
  const turns: Promise<R[]>[] = [];
  let failed = false;
  for (let from = 0; from < items.length && !failed; from += AT_A_TIME) {
    const turn = Promise.all(items.slice(from, from + AT_A_TIME).map(async (item) => begin(item)));
    turns.push(turn);
    turn.catch(() => {
      failed = true;
    });
    await takeTurn();
  }
  return (await Promise.all(turns)).flat();
}
