// Bounds the time that a command waits for a silent server while a person waits for the command.

import type { KeptListsOptions } from '#adapters/cluster/kept/kept-lists.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin } from '../../clock.ts';
import type { SourceLoops } from '../loop/source-loops.ts';

/** Time limits of a command for which a person waits: it returns the part of the result that is complete in time. */
export interface Hurry {
  /** Milliseconds for everything together; absent: no bound. */
  readonly withinMs?: number;
  /**
   * Milliseconds for all requests to the cluster, for a command that may take long; absent: its runs have deadlines.
   */
  readonly endsWithinMs?: number;
  /** If absent, each run waits for its sources. */
  readonly loops?: SourceLoops;
  /** If set, the process ends after one run, and leaves its readings to the next process. */
  readonly once?: true;
  /** If set, no other instance writes to the cluster: sources with other places are changes of this instance. */
  readonly alone?: true;
  /** If set, threads read the manifests. */
  readonly threads?: true;
  /** If set, watches keep lists current. If absent, each run lists the objects. */
  readonly keepsLists?: Omit<KeptListsOptions, 'clock'>;
}

/**
 * Share of the time for each stage: reading Git, listing the cluster, the rest. If one server is silent, the other
 * stages still have their time.
 */
export function shareOf(withinMs: number): number {
  return Math.ceil(withinMs * 0.3);
}

export function inTime(source: FleetSource, { withinMs }: Hurry): FleetSource {
  return withinMs === undefined ? source : answeringWithin(source, () => shareOf(withinMs), 'a part of ');
}

/** Limits reads of the source to the remaining time. Sources have all of it if nothing else is read. */
export function answeringWithin(source: FleetSource, leftMs: () => number, part = ''): FleetSource {
  const { repository, name } = source;
  async function within(ask: () => Promise<Checkout>): Promise<Checkout> {
    const [ms, asking] = [Math.max(1, leftMs()), ask()];
    if (await awaitWithin(ms, asking)) return asking;
    const message = `source ${name} has not answered within ${Math.ceil(ms / 1000)} s (${part}cluster.timeoutSeconds)`;
    throw new Failure('git-unreachable', message, { retryable: true });
  }
  return { ...source, repository: { ...repository, fetch: () => within(repository.fetch) } };
}
