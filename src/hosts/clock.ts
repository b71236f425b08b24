// Provides the system clock. No other code reads the time of the system.

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#reconciler/run/ports.ts';

/** Returns false if `ending` takes longer than `ms`. Rejects if `ending` rejects. */
export async function awaitWithin(ms: number, ending: Promise<unknown>): Promise<boolean> {
  const done = new AbortController();
  try {
    return await Promise.race([ending.then(() => true), systemClock.sleep(ms, done.signal).then(() => false)]);
  } finally {
    done.abort();
  }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    if (signal?.aborted === true) return;
    await delay(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  },
};
