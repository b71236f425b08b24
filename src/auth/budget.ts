// How many questions about unknown tokens a provider gets: anybody can invent tokens, and each would be one.

export interface Budget {
  /** False where nothing is left. */
  take(): boolean;
  /** For what was taken and did no harm. */
  giveBack(): void;
}

/** Holds `size` at first and at most, and gets `perSecond` more. `monotonic`: milliseconds. */
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
