// What was read of unchanged files, kept in memory between the runs of one process: the files used last.

import type { LoadCache } from '../reconcile/source-file.ts';

/** More files than one fleet has; older ones make room. */
const FILES_MAX = 50_000;

export function openLoadCache(max = FILES_MAX): LoadCache {
  const files = new Map<string, unknown>();
  return {
    get(key) {
      const value = files.get(key);
      if (value === undefined) return undefined;
      files.delete(key);
      files.set(key, value);
      return value;
    },
    set(key, value) {
      files.set(key, value);
      if (files.size <= max) return;
      const [oldest] = files.keys();
      if (oldest !== undefined) files.delete(oldest);
    },
  };
}
