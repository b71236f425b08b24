// What was read of unchanged files, kept in memory between the runs of one process: what one of the last two runs has used.
// Versions of files that are gone would fill the memory of a process that stays.

import type { LoadCache } from '#reconciler/run/read/source-file.ts';

export interface RunsCache extends LoadCache {
  /** A run has ended. One that used nothing, because it could not read its sources, is as if it had not been. */
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
