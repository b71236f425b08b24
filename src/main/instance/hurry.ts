// Keeps a command that somebody waits for from waiting for one silent server. Knows nothing about what is asked.

import type { Checkout } from '../../reconcile/ports.ts';
import type { FleetSource } from '../../reconcile/read/gather.ts';
import { Failure } from '../../std/failure.ts';
import { systemClock } from '../clock.ts';

/** For commands that somebody waits for: as much of the answer as there is in time. */
export interface Hurry {
  /** Milliseconds for everything together; absent: as long as it takes. */
  readonly withinMs?: number;
}

/** Git is asked, then the cluster is listed, then the rest: where one is silent, the others have their time. */
export function shareOf(withinMs: number): number {
  return Math.ceil(withinMs * 0.3);
}

export function inTime(source: FleetSource, { withinMs }: Hurry): FleetSource {
  if (withinMs === undefined) return source;
  const { repository, name } = source;
  async function fetch(): Promise<Checkout> {
    const answered = new AbortController();
    const fetching = repository.fetch();
    fetching.finally(() => answered.abort()).catch(() => undefined);
    const late = systemClock.sleep(shareOf(withinMs ?? 0), answered.signal);
    const first = await Promise.race([fetching, late]);
    if (first !== undefined || answered.signal.aborted) return fetching;
    const seconds = shareOf(withinMs ?? 0) / 1000;
    const message = `source ${name} has not answered within ${seconds} s (a part of cluster.timeoutSeconds)`;
    throw new Failure('git-unreachable', message, { retryable: true });
  }
  return { ...source, repository: { ...repository, fetch } };
}
