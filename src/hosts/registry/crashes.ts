// Handles sources whose thread ended without a result: records a failed attempt for each source. Each source then gets
// its own thread until it has been read, so that a crash does not affect other sources.

import type { Logger } from 'pino';
import type { RegistrySource, ServiceOrigin } from '#contracts/registry/source.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { due } from '#registry/catalogue/due.ts';
import type { CatalogueWriter, SourceKey, SourceReader } from '#registry/catalogue/ports.ts';
import { type RoundRequest, syncRound } from '#registry/catalogue/round.ts';
import { readAlone } from '#registry/catalogue/turns.ts';
import { Failure } from '#std/failure.ts';
import { formatProblem } from '#std/problem.ts';
import type { SyncNews } from './round.ts';
import { THREAD_FAILED } from './thread.ts';

type Own = RegistrySource<ServiceOrigin>;

interface Deps {
  readonly writer: CatalogueWriter;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

export interface Crashes {
  /**
   * Calls `work`, which reads the sources in a thread. If the thread crashes, remembers the sources and records a
   * failure. Throws other errors of `work`.
   */
  attempt(sources: readonly Own[], work: () => Promise<void>): Promise<void>;
  /**
   * Records the failures of crashed threads whose claims have ended. Returns the requested sources that had no failure
   * to record.
   */
  recordPending(requested: readonly Own[]): Promise<readonly Own[]>;
  /** Returns groups of sources. Each group is read in one thread. */
  groupsOf(sources: readonly Own[]): readonly (readonly Own[])[];
}

export function watchCrashes(deps: Deps, registry: Omit<SourceKey, 'source'>, signal: AbortSignal): Crashes {
  /** Names of sources whose last thread crashed. */
  const suspects = new Set<string>();
  const unrecorded = new Map<string, Failure>();

  async function record(sources: readonly Own[]): Promise<void> {
    const states = await deps.writer.states(registry);
    for (const source of sources) {
      const { name } = source;
      const failure = unrecorded.get(name);
      // The claim of a crashed thread lasts up to another minute, so its failure is recorded later.
      if (failure === undefined || states[name]?.claimed === true) continue;
      // The source is no longer due: it was read before the crash, or by another replica.
      if (!due(source, states[name], undefined, deps.clock.now()).due) unrecorded.delete(name);
      else await recordOne(source, failure);
    }
  }

  async function recordOne(source: Own, failure: Failure): Promise<void> {
    const [news] = await recordCrash(deps, { registry, sources: [source], trigger: undefined, signal }, failure);
    if (news === undefined) return;
    unrecorded.delete(source.name);
    logNews(deps.logger, news);
  }

  return {
    async attempt(sources, work) {
      try {
        await work();
      } catch (failure) {
        if (!(failure instanceof Failure) || failure.code !== THREAD_FAILED) throw failure;
        deps.logger.error({ code: failure.code }, `sync: ${failure.message}`);
        for (const { name } of sources) {
          suspects.add(name);
          unrecorded.set(name, failure);
        }
        return record(sources);
      }
      for (const { name } of sources) suspects.delete(name);
    },
    async recordPending(requested) {
      const crashed = requested.filter(({ name }) => unrecorded.has(name));
      if (crashed.length > 0) await record(crashed);
      return requested.filter((source) => !crashed.includes(source));
    },
    groupsOf: (sources) => setApart(sources, suspects),
  };
}

function setApart(sources: readonly Own[], suspects: ReadonlySet<string>): readonly (readonly Own[])[] {
  const others = sources.filter(({ name }) => !suspects.has(name));
  const alone = sources.filter(({ name }) => suspects.has(name)).map((source) => [source]);
  return others.length === 0 ? alone : [others, ...alone];
}

/** Records a failed attempt to read the source. Entries of earlier attempts stay. */
function recordCrash(
  { writer, clock }: Deps,
  request: RoundRequest<ServiceOrigin>,
  failure: Failure,
): Promise<readonly SyncNews[]> {
  const source: SourceReader<ServiceOrigin> = { read: () => Promise.reject(failure) };
  return syncRound({ source, writer, now: () => clock.now(), inTurn: readAlone }, request);
}

export function logNews(logger: Logger, { key, result, state, written, problems }: SyncNews): void {
  const facts = { registry: key.source, servers: state.serverCount, rejected: state.rejectedCount };
  for (const problem of problems) logger.warn({ registry: key.source }, formatProblem(problem));
  if (result === 'failed') logger.error({ ...facts, attempt: state.attemptCount }, `sync failed: ${state.message}`);
  else if (written === undefined) logger.debug(facts, 'sync: unchanged');
  else logger.info({ ...facts, ...written }, 'synced');
}
