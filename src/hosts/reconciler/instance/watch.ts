// Reports requests, reads of sources and the lease of an instance when they happen.

import { textOfWaitingForSource } from '#reconciler/report/progress.ts';
import type { Checkout, Cluster, Exchange } from '#reconciler/run/ports.ts';
import type { FleetSource } from '#reconciler/run/read/gather.ts';
import type { RunDeps } from '#reconciler/run/run.ts';
import type { ReportWaiting } from '#reconciler/run/waiting.ts';
import type { SourceReader } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Trace } from '#std/telemetry/trace.ts';
import { systemClock } from '../../clock.ts';
import type { Stopping } from '../loop/stopping.ts';

/** Receives events of an instance that results of runs do not contain. */
export interface InstanceWatch {
  requested?(exchange: Exchange): void;
  fetched?(fetch: { readonly source: string; readonly seconds: number; readonly failure?: string }): void;
  /**
   * Called after a request outside of the cluster, a read of a source of skep.yaml, or a read of a registry source has
   * ended.
   */
  progressed?(): void;
  /** Called when the instance has got or lost its lease. */
  lock?(held: boolean): void;
  /** Called with the trace id of each run. */
  traced?(traceId: string): void;
  /** Called every ten seconds while a run waits for something in the cluster. */
  readonly waiting?: ReportWaiting;
  /** Called every ten seconds while a source has not responded. */
  waitingForSource?(source: { readonly name: string; readonly waitedMs: number }): void;
  /** Receives the state that a run has observed and planned. */
  readonly looked?: RunDeps['looked'];
  /** If set, runs can be stopped early. */
  readonly stopping?: Stopping;
}

const REMIND_EVERY_MS = 10_000;

/** Returns a watch that prints to stderr the sources that a command waits for. */
export function watchSources(): InstanceWatch {
  return { waitingForSource: (source) => void process.stderr.write(textOfWaitingForSource(source)) };
}

/** Reports the lease through `fence`, which is set exactly while the lease is held. */
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

export function withReadsWatched<O>({ read }: SourceReader<O>, { progressed }: InstanceWatch): SourceReader<O> {
  return { read: (request) => read(request).finally(() => progressed?.()) };
}
