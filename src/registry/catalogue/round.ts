// Claims and syncs all due sources of a registry once. Several processes may call this function at the same time,
// because a claim gives a source to one process.

import type { Origin, RegistrySource } from '#contracts/registry/source.ts';
import { Failure } from '#std/failure.ts';
import { due } from './due.ts';
import type { CatalogueWriter, Claim, Content, ReadRequest, SourceKey, SourceReader } from './ports.ts';
import { type SyncOutcome, syncSource } from './sync.ts';
import type { Arrival, InTurn } from './turns.ts';

export interface RoundPorts<O = Origin> {
  readonly source: SourceReader<O>;
  readonly writer: CatalogueWriter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Limits how many sources are read at one time. */
  readonly inTurn: InTurn;
}

export interface RoundRequest<O = Origin> {
  readonly registry: Omit<SourceKey, 'source'>;
  readonly sources: readonly RegistrySource<O>[];
  /** Value of the `sync-trigger` annotation, if present and readable for this process. */
  readonly trigger: string | undefined;
  /** Aborted when the process ends. The syncs are then given up, and other processes may claim the sources at once. */
  readonly signal: AbortSignal;
}

/**
 * Returns the outcomes of the syncs. Sources that are not due, or that another process has claimed, have no outcome. If
 * the store fails, throws a Failure after all syncs have ended.
 */
export async function syncRound<O>(ports: RoundPorts<O>, request: RoundRequest<O>): Promise<readonly SyncOutcome[]> {
  const states = await ports.writer.states(request.registry);
  const dueSources = request.sources.filter(
    (source) => due(source, states[source.name], request.trigger, ports.now()).due,
  );
  const results = await Promise.allSettled(
    dueSources.map((source) =>
      ports.inTurn((arrival) => syncOne({ ...ports, source: announceArrival(ports.source, arrival) }, request, source)),
    ),
  );
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value ?? [];
  });
}

/** Makes the source wait for a turn before its content is parsed, because parsing needs the most memory. */
function announceArrival<O>(source: SourceReader<O>, { arrived, whole, tooSlow }: Arrival): SourceReader<O> {
  return {
    async read(request) {
      const content = await readInTime(source, { ...request, arrived }, tooSlow);
      await whole();
      return content;
    },
  };
}

async function readInTime<O>(
  source: SourceReader<O>,
  request: ReadRequest<O>,
  tooSlow: AbortSignal,
): Promise<Content | 'unchanged'> {
  try {
    return await source.read({ ...request, signal: AbortSignal.any([request.signal, tooSlow]) });
  } catch (error) {
    if (tooSlow.aborted && !request.signal.aborted) throw tooSlow.reason;
    throw error;
  }
}

async function syncOne<O>(
  ports: RoundPorts<O>,
  request: RoundRequest<O>,
  source: RegistrySource<O>,
): Promise<SyncOutcome | undefined> {
  if (request.signal.aborted) return undefined;
  const key = { ...request.registry, source: source.name };
  const claim = await ports.writer.claim(key);
  if (claim === undefined) return undefined;
  try {
    // Another process may have synced the source between the first check and the claim.
    if (due(source, claim.state, request.trigger, ports.now()).due)
      return await syncClaimed(ports, request, source, claim);
    await claim.release();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.code === 'catalogue-claim-lost') return undefined;
    // If the release fails too, the claim expires after a minute.
    await claim.release().catch(ignoreFailure);
    if (request.signal.aborted || claim.signal.aborted) return ignoreFailure(error);
    throw error;
  }
}

function syncClaimed<O>(
  { source: reader, now }: RoundPorts<O>,
  { registry, trigger, signal }: RoundRequest<O>,
  source: RegistrySource<O>,
  claim: Claim,
): Promise<SyncOutcome> {
  return syncSource(
    { source: reader, writer: claim, now },
    {
      key: { ...registry, source: source.name },
      source,
      state: claim.state,
      trigger,
      now: now(),
      signal: AbortSignal.any([signal, claim.signal]),
    },
  );
}

function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}
