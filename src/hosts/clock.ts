// The one place that asks for the time.

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#reconciler/run/ports.ts';

/** False where it takes longer; rejects as it does. */
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
