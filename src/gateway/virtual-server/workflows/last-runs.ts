// Stores results and durations of the last runs of workflows for operators. Arguments, outputs and error texts are
// private to the caller and are not stored.

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
  /** Ordered by their end. */
  readonly steps: readonly EndedStep[];
}

export interface LastRuns {
  keep(run: EndedRun): void;
  /** Returns the stored runs, newest first. */
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
