// Takes tokens from the store that all replicas share. While the store is unavailable, takes tokens from buckets of
// this replica.

import { setBounded } from '#std/bounded.ts';
import type { KeyedBucket, Taken, TokenStore } from './ports.ts';
import type { TakeTokens } from './rate-limits.ts';

export interface TokenStoreParts {
  readonly store: TokenStore;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /** Called when the store becomes unavailable or available again. */
  readonly changed: (isReached: boolean, error?: unknown) => void;
}

/**
 * Time without requests to the store after a failure. Without this pause, each call would wait for the store's time
 * limit.
 */
const LEFT_ALONE_MS = 1000;

export function takeWithFallback({ store, now, changed }: TokenStoreParts): TakeTokens {
  const local = createLocalBuckets(now);
  let askAgainAt = 0;
  let isReached = true;

  function note(reached: boolean, error?: unknown): void {
    if (!reached) askAgainAt = now() + LEFT_ALONE_MS;
    if (reached === isReached) return;
    isReached = reached;
    changed(reached, error);
  }

  return async (buckets) => {
    // This replica also counts the calls that the store counts. Otherwise every caller would get a full bucket when the
    // store fails.
    const alone = local(buckets);
    if (!isReached && now() < askAgainAt) return { taken: alone, isAlone: true };
    try {
      const taken = await store(buckets);
      note(true);
      return { taken, isAlone: false };
    } catch (error) {
      note(false, error);
      return { taken: alone, isAlone: true };
    }
  };
}

interface Level {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * Maximum number of buckets. A new bucket replaces the bucket that was unused for the longest time, which is usually
 * full again.
 */
const BUCKETS_MAX = 20_000;

function createLocalBuckets(now: () => number): (buckets: readonly KeyedBucket[]) => Taken {
  const levels = new Map<string, Level>();
  return (buckets) => {
    const atMs = now();
    const filled = buckets.map(({ key, maxTokens, refillMs }) => {
      const { tokens, atMs: before } = levels.get(key) ?? { tokens: maxTokens, atMs };
      const left = Math.min(maxTokens, tokens + ((atMs - before) * maxTokens) / refillMs);
      return { key, left, waitMs: Math.max(0, ((1 - left) * refillMs) / maxTokens) };
    });
    const empty = filled.findIndex(({ left }) => left < 1);
    if (empty >= 0) return { ok: false, empty, waitMs: Math.max(...filled.map(({ waitMs }) => waitMs)) };
    for (const { key, left } of filled) setBounded(levels, key, { tokens: left - 1, atMs }, BUCKETS_MAX);
    return { ok: true };
  };
}
