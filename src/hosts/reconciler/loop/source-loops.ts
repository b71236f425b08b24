// Reads sources in parallel with runs. A run waits a limited time for a source, and then uses the content of the last
// successful read.

import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import type { Checkout, Clock } from '#reconciler/run/ports.ts';
import { type FleetSource, LATE } from '#reconciler/run/read/gather.ts';
import type { SyncOutcome } from '#registry/catalogue/sync.ts';
import { Failure } from '#std/failure.ts';
import { awaitWithin } from '../../clock.ts';
import type { Config } from '../../config/config.ts';

export interface Patience {
  /** Milliseconds that a run waits for a source that was never read, whose objects are unknown. */
  readonly firstMs: number;
  /**
   * Milliseconds that a run waits for a source that was read before. After a timeout, later runs do not wait for the
   * source until it has responded in time once.
   */
  readonly againMs: number;
}

export interface SourceLoops {
  /**
   * Returns the source with reads in parallel to runs. `read`: called for each new commit before runs use the commit.
   * If it fails, runs do not use the commit.
   */
  over(source: FleetSource, read?: (checkout: Checkout) => Promise<void>): FleetSource;
  readonly beside: NonNullable<RegistryDeps['beside']>;
  /** Aborts the syncs of registry sources, and waits until they have ended. */
  close(): Promise<void>;
}

/** Waiting times in a long-running process. */
export const KEEPING: Patience = { firstMs: 10_000, againMs: 2_000 };
/** Returns the waiting times for a single run: two minutes, but at most half of the run's deadline. */
export function patienceOnce({ apply: { deadlineSeconds } }: Pick<Config, 'apply'>): Patience {
  const ms = Math.min(120_000, deadlineSeconds * 500);
  return { firstMs: ms, againMs: ms };
}

/** Age up to which the last read content is still used as current content if the source does not respond in time. */
const FRESH_MS = 10_000;

/** `news`: called after a read has found news that no run waited for. */
export function openSourceLoops(clock: Pick<Clock, 'monotonic'>, patience: Patience, news: () => void): SourceLoops {
  const syncs = new Map<string, Sync>();
  const closing = new AbortController();
  return {
    over: (source, read) => ({
      ...source,
      repository: storedRepository({ clock, patience, news }, source, openOnce(clock, read)),
    }),
    async beside(key, work) {
      const known = syncs.get(key);
      if (known === undefined && work === undefined) return [];
      const sync = known ?? openSync({ clock, patience, news, signal: closing.signal });
      syncs.set(key, sync);
      return sync.next(work);
    },
    async close() {
      closing.abort();
      await Promise.all([...syncs.values()].map(({ ended }) => ended()));
    },
  };
}

interface LoopDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly patience: Patience;
  readonly news: () => void;
}

interface Pace {
  /** Waits for the reading, and returns whether it ended in time. */
  await(reading: Promise<void>, usualMs: number): Promise<boolean>;
  /** Reads, and returns true if no run waited for the reading. */
  time(read: () => Promise<void>): Promise<boolean>;
}

/** Stops waiting for a source after a timeout, until the source has responded in time once. */
function openPace({ clock, patience }: LoopDeps): Pace {
  let late = false;
  let waiting = 0;
  return {
    async await(reading, usualMs) {
      waiting += 1;
      try {
        const inTime = await awaitWithin(late ? 0 : usualMs, reading);
        late = !inTime;
        return inTime;
      } finally {
        waiting -= 1;
      }
    },
    async time(read) {
      const startedAt = clock.monotonic();
      await read();
      late = clock.monotonic() - startedAt > patience.againMs;
      return waiting === 0;
    },
  };
}

/** Returns a repository that keeps its last good commit if the server does not respond or reports an error. */
function storedRepository(
  deps: LoopDeps,
  { name, repository }: FleetSource,
  read: (checkout: Checkout) => Promise<void>,
): FleetSource['repository'] {
  const pace = openPace(deps);
  let last: { readonly checkout: Checkout; readonly at: number } | undefined;
  let failure: Failure | undefined;
  let reading: Promise<void> | undefined;
  /** Commit that the last run used as the ref's current commit. */
  let used: string | undefined;

  async function readNow(): Promise<void> {
    try {
      const checkout = await repository.fetch();
      await read(checkout);
      last = { checkout, at: deps.clock.monotonic() };
      failure = undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
  }

  async function startReading(): Promise<void> {
    const unawaited = await pace.time(readNow);
    reading = undefined;
    if (unawaited && failure === undefined && last?.checkout.commit !== used) deps.news();
  }

  function usable(inTime: boolean): Checkout {
    if (last === undefined) throw failure ?? unanswered(name, deps.patience.firstMs);
    const isFresh = failure === undefined && (inTime || deps.clock.monotonic() - last.at <= FRESH_MS);
    used = isFresh ? last.checkout.commit : undefined;
    return isFresh ? last.checkout : { ...last.checkout, stale: failure ?? lateFailure(name, last.checkout.commit) };
  }

  return {
    ...repository,
    async fetch() {
      reading ??= startReading();
      const { firstMs, againMs } = deps.patience;
      return usable(await pace.await(reading, last === undefined ? firstMs : againMs));
    },
    at: rememberLast(repository),
  };
}

/** Caches the last checkout, because every run after a rollback reads the same commit. */
function rememberLast(repository: FleetSource['repository']): FleetSource['repository']['at'] {
  let rolledBack: Checkout | undefined;
  return async (commit) => {
    if (rolledBack?.commit !== commit) rolledBack = await repository.at(commit);
    return rolledBack;
  };
}

function unanswered(name: string, ms: number): Failure {
  const message = `source ${name} has not answered within ${ms / 1000} s, and was never read: a run follows when it does`;
  return new Failure('git-unreachable', message, { retryable: true });
}

function lateFailure(name: string, commit: string): Failure {
  const message = `source ${name} has not answered yet: its commit ${commit.slice(0, 12)} is used, and none of its objects are deleted`;
  return new Failure(LATE, message, { retryable: true });
}

/**
 * Returns a function that calls `read` once for each commit. After a Failure, the commit is tried again only after
 * TRIED_AGAIN_MS, in case the machine was busy.
 */
function openOnce(clock: Pick<Clock, 'monotonic'>, read: ((checkout: Checkout) => Promise<void>) | undefined) {
  let before: { readonly commit: string; readonly failure: Failure | undefined; readonly at: number } | undefined;
  return async (checkout: Checkout): Promise<void> => {
    const { commit } = checkout;
    const isSame = before?.commit === commit;
    if (isSame && before?.failure === undefined) return;
    if (isSame && before?.failure !== undefined && clock.monotonic() - before.at < TRIED_AGAIN_MS) throw before.failure;
    const failure = await read?.(checkout).then(() => undefined, asFailure);
    before = { commit, failure, at: clock.monotonic() };
    if (failure !== undefined) throw failure;
  };
}

const TRIED_AGAIN_MS = 10 * 60_000;

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

interface Sync {
  /**
   * Starts `work` if no work is in progress, waits a limited time, and returns the outcomes since the last call. Throws
   * Failures of earlier work.
   */
  next(work: Work | undefined): Promise<readonly SyncOutcome[]>;
  ended(): Promise<void>;
}

type Work = (signal: AbortSignal) => Promise<readonly SyncOutcome[]>;

function openSync(deps: LoopDeps & { readonly signal: AbortSignal }): Sync {
  const pace = openPace(deps);
  let outcomes: readonly SyncOutcome[] = [];
  let failure: Failure | undefined;
  let running: Promise<void> | undefined;

  async function runWork(work: Work): Promise<void> {
    try {
      outcomes = [...outcomes, ...(await work(deps.signal))];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error;
    }
  }

  async function start(work: Work): Promise<void> {
    const unawaited = await pace.time(() => runWork(work));
    running = undefined;
    if (unawaited && !deps.signal.aborted && outcomes.length > 0) deps.news();
  }

  function takeOutcomes(): readonly SyncOutcome[] {
    const [failed, done] = [failure, outcomes];
    failure = undefined;
    outcomes = [];
    if (failed !== undefined) throw failed;
    return done;
  }

  return {
    async next(work) {
      if (work !== undefined) running ??= start(work);
      if (running !== undefined) await pace.await(running, deps.patience.againMs);
      return takeOutcomes();
    },
    ended: async () => running,
  };
}
