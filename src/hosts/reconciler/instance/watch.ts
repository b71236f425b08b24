// Lets someone watch what an instance does beyond its results: requests, looks at sources, its lease. Changes nothing of it.

import type { Checkout, Cluster, Exchange } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { Source } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Trace } from '#std/telemetry/trace.ts';
import { systemClock } from '../../clock.ts';
import type { Stopping } from '../loop/stopping.ts';

/** Who wants to know what an instance does beyond its results. */
export interface InstanceWatch {
  requested?(exchange: Exchange): void;
  fetched?(fetch: { readonly source: string; readonly seconds: number; readonly failure?: string }): void;
  /** Something outside of the cluster that a run waited for has ended: an exchange, a source of the fleet, one of a registry. */
  progressed?(): void;
  /** Whether it holds its lease. */
  lock?(held: boolean): void;
  /** Called when a run begins that is traced. */
  traced?(traceId: string): void;
  /** Lets runs be ended early. */
  readonly stopping?: Stopping;
}

/** What is fenced is locked: the fence stands exactly as long as the lease is held. */
export function withLockWatched<T extends Cluster>(cluster: T, { lock, stopping }: InstanceWatch): T {
  const stoppable = stopping === undefined ? cluster : stopping.over(cluster);
  if (lock === undefined) return stoppable;
  return {
    ...stoppable,
    fence(check) {
      lock(check !== undefined);
      stoppable.fence(check);
    },
  };
}

export function withSourceWatched(
  source: FleetSource,
  { fetched, progressed }: InstanceWatch,
  trace: Trace,
): FleetSource {
  const { monotonic } = systemClock;
  async function fetch(): Promise<Checkout> {
    const startedAt = monotonic();
    const seconds = () => (monotonic() - startedAt) / 1000;
    try {
      const checkout = await trace.span('fetch', { 'skep.source': source.name }, source.repository.fetch);
      fetched?.({ source: source.name, seconds: seconds() });
      return checkout;
    } catch (error) {
      if (error instanceof Failure) fetched?.({ source: source.name, seconds: seconds(), failure: error.code });
      throw error;
    } finally {
      progressed?.();
    }
  }
  return { ...source, repository: { ...source.repository, fetch } };
}

export function withReadsWatched<O>({ read }: Source<O>, { progressed }: InstanceWatch): Source<O> {
  return { read: (request) => read(request).finally(() => progressed?.()) };
}
