// Keeps a command that somebody waits for from waiting for one silent server. Knows nothing about what is asked.

import type { Checkout } from '../../reconcile/ports.ts';
import type { FleetSource } from '../../reconcile/read/gather.ts';
import { Failure } from '../../std/failure.ts';
import { awaitWithin } from '../clock.ts';
import type { SourceLoops } from '../loop/source-loops.ts';

/** For commands that somebody waits for: as much of the answer as there is in time. */
export interface Hurry {
  /** Milliseconds for everything together; absent: as long as it takes. */
  readonly withinMs?: number;
  /** Absent: each run waits for its sources. */
  readonly loops?: SourceLoops;
  /** Manifests are read in threads. */
  readonly threads?: true;
}

/** Git is asked, then the cluster is listed, then the rest: where one is silent, the others have their time. */
export function shareOf(withinMs: number): number {
  return Math.ceil(withinMs * 0.3);
}

export function inTime(source: FleetSource, { withinMs }: Hurry): FleetSource {
  if (withinMs === undefined) return source;
  const { repository, name } = source;
  const shareMs = shareOf(withinMs);
  async function fetch(): Promise<Checkout> {
    const fetching = repository.fetch();
    if (await awaitWithin(shareMs, fetching)) return fetching;
    const message = `source ${name} has not answered within ${shareMs / 1000} s (a part of cluster.timeoutSeconds)`;
    throw new Failure('git-unreachable', message, { retryable: true });
  }
  return { ...source, repository: { ...repository, fetch } };
}
