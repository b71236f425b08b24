// One look at the sources of a registry: each that is due is claimed and synced. Run by every process that syncs, at any
// time and in any number: a source is synced by one of them.

import type { Origin, RegistrySource } from '#contracts/registry/source.ts';
import { Failure } from '#std/failure.ts';
import { due } from './due.ts';
import type { CatalogueWriter, Claim, Content, ReadRequest, Source, SourceKey } from './ports.ts';
import { type SyncOutcome, syncSource } from './sync.ts';
import type { Arrival, InTurn } from './turns.ts';

export interface RoundPorts<O = Origin> {
  readonly source: Source<O>;
  readonly writer: CatalogueWriter;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Runs the work when it is its turn: so many sources at a time. */
  readonly inTurn: InTurn;
}

export interface RoundRequest<O = Origin> {
  readonly registry: Omit<SourceKey, 'source'>;
  readonly sources: readonly RegistrySource<O>[];
  /** Value of the `sync-trigger` annotation, where there is one and it is seen here. */
  readonly trigger: string | undefined;
  /** Aborted where the process ends: what is under way is given up, and free for others at once. */
  readonly signal: AbortSignal;
}

/**
 * What came of the sources that were due and not another's. Throws Failure where the store fails, once nothing is
 * under way any more.
 */
export async function syncRound<O>(ports: RoundPorts<O>, request: RoundRequest<O>): Promise<readonly SyncOutcome[]> {
  const states = await ports.writer.states(request.registry);
  const wanted = request.sources.filter((source) => due(source, states[source.name], request.trigger, ports.now()).due);
  const results = await Promise.allSettled(
    wanted.map((source) =>
      ports.inTurn((arrival) => syncOne({ ...ports, source: announceArrival(ports.source, arrival) }, request, source)),
    ),
  );
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value ?? [];
  });
}

/** Every source waits for its turn at the end: parsing the content takes the most memory. */
function announceArrival<O>(source: Source<O>, { arrived, whole, tooSlow }: Arrival): Source<O> {
  return {
    async read(request) {
      const content = await readInTime(source, { ...request, arrived }, tooSlow);
      await whole();
      return content;
    },
  };
}

async function readInTime<O>(
  source: Source<O>,
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
    // Someone else may have synced it between the first look and the claim.
    if (due(source, claim.state, request.trigger, ports.now()).due)
      return await syncClaimed(ports, request, source, claim);
    await claim.release();
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.code === 'catalogue-claim-lost') return undefined;
    // What fails twice ends by itself.
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
