// Remembers which eras a server speaks, as its answers have shown.

import type { Era } from '../backend.ts';

export interface EraKnowledge {
  /** Returns undefined if unknown or outdated. */
  speaks(era: Era): boolean | undefined;
  learn(era: Era, speaks: boolean): void;
  /** Called when an answer contradicts the known eras: all of them are forgotten. */
  doubt(): void;
}

export interface EraClock {
  monotonic(): number;
}

/**
 * Further doubts within this time are ignored, so that requests that fail for other reasons do not cause detection
 * again and again.
 */
const DOUBT_MS = 10_000;

/** Forgets after `eraMs` that the server does not speak an era: it may have been replaced by a newer one. */
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
