// Limits the time that a command waits for servers that do not respond.

import type { KeptListsOptions } from '#adapters/cluster/kept/kept-lists.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin } from '../../clock.ts';
import type { SourceLoops } from '../loop/source-loops.ts';

/** Time limits and reading options of an instance. */
export interface Hurry {
  /** Milliseconds for the whole command. If not set, the time is not limited. */
  readonly withinMs?: number;
  /**
   * Milliseconds for all requests to the cluster, in commands without `withinMs`. If not set, only deadlines of runs
   * apply.
   */
  readonly endsWithinMs?: number;
  /** If set, sources are read in parallel with runs. If not set, each run waits for its sources. */
  readonly loops?: SourceLoops;
  /** If set, the process makes only one run, and stores the results of reading manifests for the next process. */
  readonly once?: true;
  /** If set, no other instance writes to the cluster. A run with only new sources then needs no approval. */
  readonly alone?: true;
  /** If set, threads read the manifests. */
  readonly threads?: true;
  /** If set, watches keep lists current. If not set, each run lists the objects. */
  readonly keepsLists?: Omit<KeptListsOptions, 'clock'>;
}

/**
 * Returns the time for each stage of a command: reading Git, listing the cluster, all other work. If a server does not
 * respond, the other stages still have their time.
 */
export function shareOf(withinMs: number): number {
  return Math.ceil(withinMs * 0.3);
}

export function inTime(source: FleetSource, { withinMs }: Hurry): FleetSource {
  return withinMs === undefined ? source : answeringWithin(source, () => shareOf(withinMs), 'a part of ');
}

/**
 * Limits the time of the source's `fetch`. `part` precedes the name of the setting in the message, if the limit is only
 * a part of this setting.
 */
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
