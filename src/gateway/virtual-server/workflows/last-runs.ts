// Stores the last runs of workflows for operators: how each ended and how long it took. Does not store arguments,
// results and texts of errors, which belong to the caller.

import type { RunResult, StepEnd } from './ports.ts';

export interface EndedStep {
  readonly id: string;
  readonly result: StepEnd;
  readonly durationMs: number;
  readonly retries: number;
}

export interface EndedRun {
  readonly run: string;
  readonly workflow: string;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly result: RunResult['kind'];
  /** Steps in the order in which they ended. */
  readonly steps: readonly EndedStep[];
}

export interface LastRuns {
  keep(run: EndedRun): void;
  /** Returns all stored runs, ordered from the newest. */
  all(): readonly EndedRun[];
}

const RUNS_MAX = 50;

export function createLastRuns(): LastRuns {
  const runs: EndedRun[] = [];
  return {
    keep(run) {
      runs.unshift(run);
      runs.length = Math.min(runs.length, RUNS_MAX);
    },
    all: () => runs,
  };
}
