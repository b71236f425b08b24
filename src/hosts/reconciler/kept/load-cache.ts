// Keeps the results of reading unchanged files in memory, between the runs of one process, if one of the last two runs
// has used them. Without this bound, versions of deleted files would fill the memory of a long-running process.

import type { LoadCache } from '#reconciler/run/read/source-file.ts';

export interface RunsCache extends LoadCache {
  /** Ends a run. A run that used no entry, because it could not read its sources, does not count. */
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
