// Remembers which eras a server speaks, as its answers have shown.

import type { Era } from '../backend.ts';

export interface EraKnowledge {
  /** Returns whether the server speaks the era. Returns undefined if that is unknown or outdated. */
  speaks(era: Era): boolean | undefined;
  learn(era: Era, speaks: boolean): void;
  /** Forgets all eras, because an answer contradicts them. */
  doubt(): void;
}

export interface EraClock {
  monotonic(): number;
}

/**
 * Further doubts within this time are ignored, so that requests that fail for other reasons do not repeat the detection
 * each time.
 */
const DOUBT_MS = 10_000;

/** A negative result is forgotten after `eraMs`, because a newer server may have replaced the server. */
export function createEraKnowledge({ monotonic }: EraClock, eraMs: number): EraKnowledge {
  const known = new Map<Era, { readonly speaks: boolean; readonly at: number }>();
  let doubtedAt = Number.NEGATIVE_INFINITY;
  return {
    speaks(era) {
      const found = known.get(era);
      if (found === undefined || found.speaks) return found?.speaks;
      return monotonic() - found.at < eraMs ? false : undefined;
    },
    learn(era, speaks) {
      known.set(era, { speaks, at: monotonic() });
    },
    doubt() {
      if (monotonic() - doubtedAt < DOUBT_MS) return;
      doubtedAt = monotonic();
      known.clear();
    },
  };
}
