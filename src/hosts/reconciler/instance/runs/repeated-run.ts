// Finds out whether a run would read the same data as the last run and time alone changes nothing: the result of the
// last run is then used again.

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
  /** Cluster for runs: it notes their reads. */
  readonly cluster: ConnectedCluster;
  /** The same cluster, for everything else. */
  readonly connected: ConnectedCluster;
  /** Returns the same sources, which note the keys and programs that they are read with. */
  notingSources(sources: readonly FleetSource[]): readonly FleetSource[];
  /** Receives the state that a run has read, once it has planned. */
  looked(prepared: Pick<Prepared, 'gathered' | 'unsealed'>): void;
  /** Makes a run, and stores its result for repetition. */
  over(run: () => Promise<RunResult>): Promise<RunResult>;
  /** Returns the result that a run would have now if it is known without a run. */
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

/** Returns runs that are never repeated: without watches, only a new run can find changes. */
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

/** Returns whether a run reads registry sources, which have their own intervals. */
function hasRegistrySources({ gathered: { loaded } }: Pick<Prepared, 'gathered'>): boolean {
  return loaded.some(({ kind, defaulted }) => defaulted !== undefined && (kind?.sources(defaulted).length ?? 0) > 0);
}

/**
 * Returns true if no part of the result waits for a person, another source or a date, and nothing has to be tried
 * again: the cause of an error may be outside of Git.
 */
function isQuiet(result: RunResult): boolean {
  const { paused, plan, outcomes, failures, warnings, catalogue, waits, quarantined, problems } = result;
  const { batches, waiting, approved, within, withheld = [] } = plan;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const open = [outcomes, failures, warnings, catalogue, waits, quarantined, errors];
  const planned = [batches, waiting, approved, within, withheld];
  return paused === undefined && [...open, ...planned].every(({ length }) => length === 0);
}

/** Notes the key files and programs, because they change without a commit. */
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
    // The next run has the same failure, and reports it.
    if (error instanceof Failure) return false;
    throw error;
  }
}
