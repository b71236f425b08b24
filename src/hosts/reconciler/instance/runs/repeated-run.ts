// Finds out whether a run would read what the last one has read, and would have nothing to do because of the time: then its result is
// the one of the last run, and nothing is computed.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { noteReads } from '#adapters/cluster/kept/noted-reads.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import type { Hurry } from '../hurry.ts';

export interface RepeatedRuns {
  /** For runs: notes what they read. */
  readonly cluster: ConnectedCluster;
  /** The same cluster, for everything else. */
  readonly connected: ConnectedCluster;
  /** A run has planned. */
  looked(prepared: Pick<Prepared, 'gathered' | 'unsealed'>): void;
  /** Makes a run. */
  over(run: () => Promise<RunResult>): Promise<RunResult>;
  /** Returns the result of a run now if it is known without one. */
  repeat(id: string, sources: readonly FleetSource[]): Promise<RunResult | undefined>;
}

export function openRepeatedRuns(
  connected: ConnectedCluster,
  clock: Pick<Clock, 'now'>,
  { keepsLists }: Pick<Hurry, 'keepsLists'>,
): RepeatedRuns {
  if (keepsLists === undefined) return withoutRepetition(connected);
  const reads = noteReads(connected);
  let isTimeless = false;
  let last: RunResult | undefined;
  const timestamp = (): string => new Date(clock.now()).toISOString();
  return {
    cluster: reads.cluster,
    connected,
    looked(prepared) {
      isTimeless = !prepared.unsealed && !hasRegistrySources(prepared);
    },
    async over(run) {
      reads.begin();
      isTimeless = false;
      last = undefined;
      const result = await run();
      last = isTimeless && isQuiet(result) ? result : undefined;
      return result;
    },
    async repeat(id, sources) {
      const before = last;
      if (before === undefined) return undefined;
      const [startedAt, requests] = [timestamp(), connected.requests()];
      if (!(await reads.isSame()) || !(await haveSameCommits(sources, before))) return undefined;
      return { ...before, id, startedAt, finishedAt: timestamp(), requests: connected.requests() - requests };
    },
  };
}

/** Each run lists everything, so that only a run can tell. */
function withoutRepetition(connected: ConnectedCluster): RepeatedRuns {
  return {
    cluster: connected,
    connected,
    looked: () => undefined,
    over: (run) => run(),
    repeat: async () => undefined,
  };
}

/** Each of them is read when its own time has come. */
function hasRegistrySources({ gathered: { loaded } }: Pick<Prepared, 'gathered'>): boolean {
  return loaded.some(({ kind, defaulted }) => defaulted !== undefined && (kind?.sources(defaulted).length ?? 0) > 0);
}

/** Nothing waits for a person, for another source or for a date, and nothing is tried again. */
function isQuiet({ paused, plan, outcomes, failures, warnings, catalogue, waits, quarantined }: RunResult): boolean {
  const { batches, waiting, approved, within, withheld = [] } = plan;
  const open = [outcomes, failures, warnings, catalogue, waits, quarantined];
  const planned = [batches, waiting, approved, within, withheld];
  return paused === undefined && [...open, ...planned].every(({ length }) => length === 0);
}

async function haveSameCommits(sources: readonly FleetSource[], { commits }: RunResult): Promise<boolean> {
  try {
    const checkouts = await Promise.all(sources.map(({ repository }) => repository.fetch()));
    return checkouts.every(
      ({ commit, stale }, index) => stale === undefined && commit === commits[sources[index]?.name ?? ''],
    );
  } catch (error) {
    // The run that follows meets the failure as well, and reports it.
    if (error instanceof Failure) return false;
    throw error;
  }
}
