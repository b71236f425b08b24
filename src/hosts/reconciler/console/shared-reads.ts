// Bounds what open consoles read from the cluster: few resources at a time, and each once for all who open it.

import pLimit from 'p-limit';
import type { Clock } from '#reconciler/run/ports.ts';

/** Maximum number of resources that are read at a time. Each takes up to 40 requests, which runs need as well. */
const READS_MAX = 4;

interface Read<T> {
  readonly reading: Promise<T | undefined>;
  /** Time of the monotonic clock at which nobody waits for the result any more. */
  until: number;
}

/** Reads something under a key. Resolves to undefined if it was not read in time. */
export type ReadInTurn<T> = (key: string, read: () => Promise<T>) => Promise<T | undefined>;

export function shareReads<T>(clock: Pick<Clock, 'monotonic' | 'sleep'>, withinMs: number): ReadInTurn<T> {
  const limit = pLimit(READS_MAX);
  const reads = new Map<string, Read<T>>();

  function begin(key: string, read: () => Promise<T>): Read<T> {
    const begun: Read<T> = {
      until: 0,
      // A read that nobody waits for is not made.
      reading: limit(async () => (clock.monotonic() < begun.until ? read() : undefined)).finally(() =>
        reads.delete(key),
      ),
    };
    begun.reading.catch(() => undefined);
    reads.set(key, begun);
    return begun;
  }

  return async (key, read) => {
    const shared = reads.get(key) ?? begin(key, read);
    shared.until = clock.monotonic() + withinMs;
    const over = new AbortController();
    try {
      return await Promise.race([shared.reading, clock.sleep(withinMs, over.signal).then(() => undefined)]);
    } finally {
      over.abort();
    }
  };
}
