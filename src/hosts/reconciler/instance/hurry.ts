// Keeps a command that someone waits for from waiting for one silent server.

import type { KeptListsOptions } from '#adapters/cluster/kept/kept-lists.ts';
import type { Checkout } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin } from '../../clock.ts';
import type { SourceLoops } from '../loop/source-loops.ts';

/** For commands that someone waits for: as much of the answer as there is in time. */
export interface Hurry {
  /** Milliseconds for everything together; absent: as long as it takes. */
  readonly withinMs?: number;
  /** Milliseconds for all requests to the cluster, for a command that may take its time; absent: its runs have deadlines. */
  readonly endsWithinMs?: number;
  /** Absent: each run waits for its sources. */
  readonly loops?: SourceLoops;
  /** If set, the process ends after one run, and leaves its readings for the next one. */
  readonly once?: true;
  /** No other instance can be at work on the cluster: sources with other places are changes of its own. */
  readonly alone?: true;
  /** Manifests are read in threads. */
  readonly threads?: true;
  /** Lists are kept current by watches; absent: each run lists what exists. */
  readonly keepsLists?: Omit<KeptListsOptions, 'clock'>;
}

/** Git is asked, then the cluster is listed, then the rest: if one is silent, the others have their time. */
export function shareOf(withinMs: number): number {
  return Math.ceil(withinMs * 0.3);
}

export function inTime(source: FleetSource, { withinMs }: Hurry): FleetSource {
  return withinMs === undefined ? source : answeringWithin(source, () => shareOf(withinMs), 'a part of ');
}

/** If nothing but sources is asked, they have all the time that is left. */
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
