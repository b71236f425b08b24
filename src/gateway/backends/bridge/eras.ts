// Which eras a server speaks, as far as its answers have shown.

import type { Era } from '../backend.ts';

export interface EraKnowledge {
  /** Undefined: not known, or too long ago. */
  speaks(era: Era): boolean | undefined;
  learn(era: Era, speaks: boolean): void;
  /** An answer did not fit what is known: all is open again. */
  doubt(): void;
}

export interface EraClock {
  monotonic(): number;
}

/** Doubts in between are of no account, so that requests that fail for other reasons do not ask again and again. */
const DOUBT_MS = 10_000;

/** What a server does not speak is forgotten after `eraMs`: it may have been replaced by a newer one. */
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
