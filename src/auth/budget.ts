// Limits the requests to a provider about unknown tokens: anyone can invent tokens, and each would cause a request.

export interface Budget {
  /** Returns false if the budget is used up. */
  take(): boolean;
  /** Gives back a unit, because its request did no harm. */
  giveBack(): void;
}

/**
 * The budget begins with `size` units, which is also its maximum, and gets `perSecond` units more each second.
 * `monotonic` returns milliseconds.
 */
export function createBudget(size: number, perSecond: number, monotonic: () => number): Budget {
  let left = size;
  let countedAt = monotonic();
  return {
    take() {
      const now = monotonic();
      left = Math.min(size, left + ((now - countedAt) * perSecond) / 1000);
      countedAt = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
    giveBack() {
      left = Math.min(size, left + 1);
    },
  };
}
