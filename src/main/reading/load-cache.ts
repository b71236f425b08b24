// What was read of unchanged files, kept in memory between the runs of one process: what one of the last two runs has used.
// Versions of files that are gone would fill the memory of a process that stays. A process begins with what the last one left.

import type { LoadCache } from '../../reconcile/read/source-file.ts';
import type { Readings, StoredReadings } from './stored-readings.ts';

export interface RunsCache extends LoadCache {
  /** A run has ended. One that used nothing, because it could not read its sources, is as if it had not been. */
  ended(): void;
  /** For the next process, where something was read anew. Throws Failure `state-not-saved`. */
  save(): Promise<void>;
}

/** `stored`: what an earlier process has left; absent: nothing is, and nothing is saved. */
export function openLoadCache(stored?: StoredReadings): RunsCache {
  let before = new Map<string, unknown>();
  let now = new Map<string, unknown>();
  let begun = false;
  /** Not longer than the first run takes: it is in memory twice. */
  let left: Readings | undefined;
  /** Keys of what was read in this process. */
  const added = new Set<string>();

  function leftBefore(key: string): unknown {
    if (begun) return undefined;
    left ??= stored?.read();
    return left?.get(key);
  }

  return {
    get(key) {
      const value = now.get(key) ?? before.get(key) ?? leftBefore(key);
      if (value !== undefined) now.set(key, value);
      return value;
    },
    set(key, value) {
      now.set(key, value);
      added.add(key);
    },
    ended() {
      if (now.size === 0) return;
      before = now;
      now = new Map();
      for (const key of added) if (!before.has(key)) added.delete(key);
      begun = true;
      left = undefined;
    },
    async save() {
      if (added.size > 0) await stored?.write(new Map([...before, ...now]), added);
      added.clear();
    },
  };
}
