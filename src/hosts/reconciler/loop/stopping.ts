// Stops the current run early: requests in flight finish, statuses are written, no further change is made, and the
// lease is released.

import { RUN_STOPPED } from '#reconciler/run/apply/apply.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';

export interface Stopping {
  stop(): void;
  /** Aborted when the stop is requested. */
  readonly signal: AbortSignal;
  /** Returns a cluster that refuses further changes after the stop is requested. */
  over<T extends Cluster>(cluster: T): T;
}

export function createStopping(): Stopping {
  const stopping = new AbortController();
  const { signal } = stopping;
  function assertGoing(): void {
    if (signal.aborted) throw new Failure(RUN_STOPPED, 'the process was stopped: the next run continues here');
  }
  return {
    signal,
    stop: () => stopping.abort(),
    over: (cluster) => ({
      ...cluster,
      // Also refuses changes that are waiting in the queue of requests.
      fence(check) {
        const checked = (changes: boolean): void => {
          if (changes) assertGoing();
          check?.(changes);
        };
        cluster.fence(check && checked);
      },
      async apply(object, options) {
        const changes = options.dryRun !== true && options.subresource === undefined && object.kind !== 'Event';
        if (changes) assertGoing();
        return cluster.apply(object, options);
      },
      async patch(object, operations, options) {
        if (options.dryRun !== true) assertGoing();
        return cluster.patch(object, operations, options);
      },
      async remove(id, uid, as, resourceVersion) {
        assertGoing();
        await cluster.remove(id, uid, as, resourceVersion);
      },
    }),
  };
}
