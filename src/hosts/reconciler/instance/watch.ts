// Reports the requests, the reads of sources and the lease of an instance when they happen, without changing them.

import { textOfWaitingForSource } from '#reconciler/report/progress.ts';
import type { Checkout, Cluster, Exchange } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunDeps } from '#reconciler/run/run.ts';
import type { ReportWaiting } from '#reconciler/run/waiting.ts';
import type { Source } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Trace } from '#std/telemetry/trace.ts';
import { systemClock } from '../../clock.ts';
import type { Stopping } from '../loop/stopping.ts';

/** Receives events of an instance that are not in the results of its runs. */
export interface InstanceWatch {
  requested?(exchange: Exchange): void;
  fetched?(fetch: { readonly source: string; readonly seconds: number; readonly failure?: string }): void;
  /**
   * Reports that a run no longer waits for something outside of the cluster: an exchange, a source of the fleet, a
   * source of a registry.
   */
  progressed?(): void;
  /** Reports whether the instance holds its lease. */
  lock?(held: boolean): void;
  /** Reports the trace of a run that begins. */
  traced?(traceId: string): void;
  /** Reports, every ten seconds, what a run waits for in the cluster. */
  readonly waiting?: ReportWaiting;
  /** Reports, every ten seconds, a source that has not responded. */
  waitingForSource?(source: { readonly name: string; readonly waitedMs: number }): void;
  /** Receives, at the end of a run, the state that it observed and planned. */
  readonly looked?: RunDeps['looked'];
  /** If set, runs can be ended early. */
  readonly stopping?: Stopping;
}

const REMIND_EVERY_MS = 10_000;

/** Prints to stderr the source that a command waits for. */
export function watchSources(): InstanceWatch {
  return { waitingForSource: (source) => void process.stderr.write(textOfWaitingForSource(source)) };
}

/** Reports the lock by the fence of the cluster, which exists exactly as long as the lease is held. */
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
  { fetched, progressed, waitingForSource }: InstanceWatch,
  trace: Trace,
): FleetSource {
  const { monotonic } = systemClock;
  async function fetch(): Promise<Checkout> {
    const startedAt = monotonic();
    const seconds = () => (monotonic() - startedAt) / 1000;
    const remind = () => waitingForSource?.({ name: source.name, waitedMs: monotonic() - startedAt });
    const reminder = setInterval(remind, REMIND_EVERY_MS);
    try {
      const checkout = await trace.span('fetch', { 'skep.source': source.name }, source.repository.fetch);
      fetched?.({ source: source.name, seconds: seconds() });
      return checkout;
    } catch (error) {
      if (error instanceof Failure) fetched?.({ source: source.name, seconds: seconds(), failure: error.code });
      throw error;
    } finally {
      clearInterval(reminder);
      progressed?.();
    }
  }
  return { ...source, repository: { ...source.repository, fetch } };
}

export function withReadsWatched<O>({ read }: Source<O>, { progressed }: InstanceWatch): Source<O> {
  return { read: (request) => read(request).finally(() => progressed?.()) };
}
