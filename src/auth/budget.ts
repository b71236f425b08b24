// Limits the requests to a provider about unknown tokens, since anyone can invent tokens that cause requests.

export interface Budget {
  /** Returns false if the budget is used up. */
  take(): boolean;
  /** Adds a unit again. Called if the provider accepted the token or the request failed. */
  giveBack(): void;
}

/**
 * Creates a budget that begins with its maximum of `size` units, and gains `perSecond` units each second. `monotonic`
 * returns milliseconds.
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
