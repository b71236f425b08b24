// Finds a run in the history by the start of its id.

import { Failure } from '#std/failure.ts';
import type { RunRecord } from './ports.ts';

/** Returns the run. Throws Failure `run-not-found` if no run or several runs match. */
export function findRun(records: readonly RunRecord[], start: string): RunRecord {
  const found = records.filter(({ id }) => id === start || (start.length >= START_MIN && id.startsWith(start)));
  const [run] = found;
  if (run !== undefined && found.length === 1) return run;
  const why = found.length > 1 ? `means ${found.length} of them` : 'is none of them (or less than 4 characters)';
  throw new Failure('run-not-found', `the history has ${records.length} runs, and "${start}" ${why}: see skep history`);
}

const START_MIN = 4;
