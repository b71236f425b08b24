// One look at the sources of a registry: each that is due is claimed and synced. Run by every process that syncs, at any
// time and in any number: a source is synced by one of them. Knows nothing about who they are.

import type { Origin, RegistrySource } from '../contracts/registry/source.ts';
import { Failure } from '../std/failure.ts';
import { due } from './due.ts';
import type { CatalogueWriter, Claim, Source, SourceKey } from './ports.ts';
import { type SyncOutcome, syncSource } from './sync.ts';
import type { Answered, InTurn } from './turns.ts';

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
 * What came of the sources that were due and not somebody else's. Throws Failure where the store fails, once nothing is
 * under way any more.
 */
export async function syncRound<O>(ports: RoundPorts<O>, request: RoundRequest<O>): Promise<readonly SyncOutcome[]> {
  const states = await ports.writer.states(request.registry);
  const wanted = request.sources.filter((source) => due(source, states[source.name], request.trigger, ports.now()).due);
  const results = await Promise.allSettled(
    wanted.map((source) =>
      ports.inTurn((answered) =>
        syncOne({ ...ports, source: announceAnswer(ports.source, answered) }, request, source),
      ),
    ),
  );
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value ?? [];
  });
}

/** A source that never reports that its answer begins waits for its turn at the end: parsing the content takes the most memory. */
function announceAnswer<O>(source: Source<O>, answered: Answered): Source<O> {
  return {
    async read(request) {
      const content = await source.read({ ...request, answered });
      await answered();
      return content;
    },
  };
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
    // Somebody else may have synced it between the first look and the claim.
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
