// Stores results of dry runs in a file. If a result is lost, its dry run is repeated.

import { readFileSync } from 'node:fs';
import type { Remembered } from '#reconciler/run/diff/certainty.ts';
import { setBounded } from '#std/bounded.ts';
import { writeState } from '../../state-file.ts';

export interface RememberedFile extends Remembered {
  /** Writes the file if entries were added. */
  save(): Promise<void>;
}

const ENTRIES_MAX = 50_000;

/** Keeps at most `max` entries, and drops the oldest first. */
export function openRemembered(path: string, max = ENTRIES_MAX): RememberedFile {
  const entries = new Map(Object.entries(readStored(path)));
  let dirty = false;
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      setBounded(entries, key, value, max);
      dirty = true;
    },
    async save() {
      if (!dirty) return;
      await writeState(path, JSON.stringify(Object.fromEntries(entries)));
      dirty = false;
    },
  };
}

/** Returns an empty object if the file is missing or damaged. */
function readStored(path: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
  } catch {
    return {};
  }
}
