// What was read of unchanged files, kept in memory between the runs of one process: what was used last. Knows nothing
// about what is kept.

import type { LoadCache } from '../reconcile/source-file.ts';

/** More than one fleet has: 50,000 files, each with its text, its values and its objects. Older entries make room. */
const ENTRIES_MAX = 150_000;

export function openLoadCache(max = ENTRIES_MAX): LoadCache {
  const entries = new Map<string, unknown>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.set(key, value);
      if (entries.size <= max) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}
