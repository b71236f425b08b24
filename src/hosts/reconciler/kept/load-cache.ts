// Caches results of reading unchanged files in memory. Only entries that one of the last two runs used are kept:
// otherwise versions of deleted files would fill the memory of a long-running process.

import type { LoadCache } from '#reconciler/run/read/source-file.ts';

export interface RunsCache extends LoadCache {
  /** Ends a run. Ignores a run that used no entry, because such a run could not read its sources. */
  ended(): void;
}

export function openLoadCache(): RunsCache {
  let before = new Map<string, unknown>();
  let now = new Map<string, unknown>();
  return {
    get(key) {
      const value = now.get(key) ?? before.get(key);
      if (value !== undefined) now.set(key, value);
      return value;
    },
    set(key, value) {
      now.set(key, value);
    },
    ended() {
      if (now.size === 0) return;
      before = now;
      now = new Map();
    },
  };
}
