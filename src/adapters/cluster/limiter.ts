// Limits how many requests are under way at once: fewer while the server reports that it is busy, else more (additive
// increase, multiplicative decrease).

export interface Limiter {
  /** Waits for a place, runs the task, and learns from its result whether the server was busy. */
  run<T>(task: () => Promise<T>, isBusy: (result: T) => boolean): Promise<T>;
  /** Current limit, between 1 and `most`. It grows by fractions; only whole places count. */
  limit(): number;
}

export function createLimiter(most: number): Limiter {
  const waiting: (() => void)[] = [];
  let limit = most;
  let running = 0;
  /** Counts the decreases. */
  let epoch = 0;

  function admit(): void {
    while (running < Math.floor(limit) && waiting.length > 0) {
      running += 1;
      waiting.shift()?.();
    }
  }

  function learn(busy: boolean, startedIn: number): void {
    if (!busy) limit = Math.min(most, limit + 1 / limit);
    // Requests that were under way when the limit fell say nothing about the new limit.
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
