// Reuses the result of the last run if a new run would read the same data, and if the passing of time changes nothing.

import type { ConnectedCluster } from '#adapters/cluster/connect.ts';
import { type NotedReads, noteReads } from '#adapters/cluster/kept/noted-reads.ts';
import type { Clock, KustomizeBuilder } from '#reconciler/run/ports.ts';
import type { Prepared } from '#reconciler/run/prepare.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunResult } from '#reconciler/run/result.ts';
import { Failure } from '#std/failure.ts';
import type { SopsKeys } from '#std/sops/open.ts';
import type { Hurry } from '../hurry.ts';

export interface RepeatedRuns {
  /** Cluster for runs, which records their reads. */
  readonly cluster: ConnectedCluster;
  /** The same cluster without recording, for reads outside of runs. */
  readonly connected: ConnectedCluster;
  /** Returns the sources with recorded reads of their keys and programs. */
  notingSources(sources: readonly FleetSource[]): readonly FleetSource[];
  /** Receives the state that a run has read, after the run has planned. */
  looked(prepared: Pick<Prepared, 'gathered' | 'unsealed'>): void;
  /** Makes a run, and stores its result for repetition. */
  over(run: () => Promise<RunResult>): Promise<RunResult>;
  /** Returns the last result if a new run would have the same result. Returns undefined if a new run is necessary. */
  repeat(id: string, sources: readonly FleetSource[]): Promise<RunResult | undefined>;
}

export function openRepeatedRuns(
  connected: ConnectedCluster,
  clock: Pick<Clock, 'now'>,
  { keepsLists }: Pick<Hurry, 'keepsLists'>,
  catalogue?: unknown,
): RepeatedRuns {
  if (keepsLists === undefined) return withoutRepetition(connected);
  const reads = noteReads(connected);
  let isTimeless = false;
  let last: RunResult | undefined;
  const timestamp = (): string => new Date(clock.now()).toISOString();
  return {
    cluster: reads.cluster,
    connected,
    notingSources: (sources) => sources.map((source) => noteFiles(reads, source)),
    looked(prepared) {
      isTimeless = catalogue === undefined && !prepared.unsealed && !hasRegistrySources(prepared);
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

/** Returns an implementation that never repeats a result. Without watches, nothing but a new run can find changes. */
function withoutRepetition(connected: ConnectedCluster): RepeatedRuns {
  return {
    cluster: connected,
    connected,
    notingSources: (sources) => sources,
    looked: () => undefined,
    over: (run) => run(),
    repeat: async () => undefined,
  };
}

/** Returns whether the run reads registry sources, which are synced at intervals. */
function hasRegistrySources({ gathered: { loaded } }: Pick<Prepared, 'gathered'>): boolean {
  return loaded.some(({ kind, defaulted }) => defaulted !== undefined && (kind?.sources(defaulted).length ?? 0) > 0);
}

/**
 * Returns true if nothing in the result waits or must be tried again. Errors must be tried again, because their causes
 * may be outside of Git.
 */
function isQuiet(result: RunResult): boolean {
  const { paused, plan, outcomes, failures, warnings, catalogue, waits, quarantined, problems } = result;
  const { batches, waiting, approved, within, withheld = [] } = plan;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const open = [outcomes, failures, warnings, catalogue, waits, quarantined, errors];
  const planned = [batches, waiting, approved, within, withheld];
  return paused === undefined && [...open, ...planned].every(({ length }) => length === 0);
}

/** Records the reads of key files and programs, because they can change without a commit. */
function noteFiles(reads: NotedReads, source: FleetSource): FleetSource {
  const { name, keys, kustomize } = source;
  return {
    ...source,
    ...(keys && { keys: () => reads.note(`keys of ${name}`, printOfKeys, keys) }),
    ...(kustomize && { kustomize: { ...kustomize, identity: () => noteProgram(reads, name, kustomize) } }),
  };
}

function noteProgram(reads: NotedReads, name: string, { identity }: KustomizeBuilder): Promise<string> {
  return reads.note(`kustomize of ${name}`, (program) => program, identity);
}

function printOfKeys(keys: SopsKeys): string {
  return keys.type === 'keys' ? keys.keys.digest : (keys.fault?.message ?? '');
}

async function haveSameCommits(sources: readonly FleetSource[], { commits }: RunResult): Promise<boolean> {
  try {
    const checkouts = await Promise.all(sources.map(({ repository }) => repository.fetch()));
    return checkouts.every(
      ({ commit, stale }, index) => stale === undefined && commit === commits[sources[index]?.name ?? ''],
    );
  } catch (error) {
    // The next run fails in the same way, and reports the Failure.
    if (error instanceof Failure) return false;
    throw error;
  }
}
