// Remembers which protocol eras (with sessions, stateless) a server speaks, as learned from its answers.

import type { Era } from '../backend.ts';

export interface EraKnowledge {
  /** Returns whether the server speaks the era. undefined if unknown or outdated. */
  speaks(era: Era): boolean | undefined;
  learn(era: Era, speaks: boolean): void;
  /** Forgets what was learned, because an answer of the server contradicts it. */
  doubt(): void;
}

export interface EraClock {
  monotonic(): number;
}

/**
 * Minimum time between two calls of `doubt` that have an effect. Requests that fail for other reasons therefore do not
 * repeat the detection each time.
 */
const DOUBT_MS = 10_000;

/**
 * Creates the store. After `eraMs`, forgets that the server does not speak an era, because the server may have been
 * upgraded.
 */
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
