// Limits concurrent requests by additive increase and multiplicative decrease: halves the limit when the server reports
// overload, otherwise raises it slowly.

export interface Limiter {
  /** Waits until the limit allows the task and runs it. Adjusts the limit by the result. */
  run<T>(task: () => Promise<T>, isBusy: (result: T) => boolean): Promise<T>;
  /**
   * Returns the limit, between 1 and `most`. It grows by fractions. The number of running tasks is at most its whole
   * part.
   */
  limit(): number;
}

export function createLimiter(most: number): Limiter {
  const waiting: (() => void)[] = [];
  let limit = most;
  let running = 0;
  /** Number of decreases so far. */
  let epoch = 0;

  function admit(): void {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  }

  function learn(busy: boolean, startedIn: number): void {
    if (!busy) limit = Math.min(most, limit + 1 / limit);
    // Requests that began before the last decrease do not lower the limit again.
    if (!busy || startedIn !== epoch) return;
    limit = Math.max(1, Math.floor(limit / 2));
    epoch += 1;
  }

  return {
    run: async (task, isBusy) => {
      await new Promise<void>((start) => {
        waiting.push(start);
        admit();
      });
      const startedIn = epoch;
      try {
        const result = await task();
        learn(isBusy(result), startedIn);
        return result;
      } finally {
        running -= 1;
        admit();
      }
    },
    limit: () => limit,
  };
}
