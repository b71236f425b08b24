// Syncs the sources that the configuration assigns to the registry service. The store gives each source to only one
// replica at a time. The main thread checks whether sources are due, and another thread reads them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DatabaseSettings } from '#adapters/postgres/pool.ts';
import type { SourceState } from '#contracts/catalogue-state.ts';
import { DUE_EVERY_MS } from '#contracts/registry/config-source-rules.ts';
import type { RegistryConfig, ServedRegistry } from '#contracts/registry/service.ts';
import type { RegistrySource, ServiceOrigin } from '#contracts/registry/source.ts';
import type { Clock } from '#reconciler/run/ports.ts';
import { due } from '#registry/catalogue/due.ts';
import type { CatalogueWriter } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import { logNews, watchCrashes } from './crashes.ts';
import type { RoundOrder, SyncNews } from './round.ts';
import { syncInThread } from './thread.ts';

export interface RunningSync {
  /** Aborts the current sync. Another replica can continue at once. */
  stop(): Promise<void>;
}

export interface SyncDeps {
  /** Catalogue that stores entries and states of the sources. */
  readonly writer: CatalogueWriter;
  /** Settings for the thread's connections to the same database. */
  readonly database: DatabaseSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a random number between 0 and 1. */
  readonly random: () => number;
  /**
   * Milliseconds between two checks for due sources. The default is 10 s. If no source is due, a check is one small
   * query.
   */
  readonly everyMs?: number;
}

/** Maximum share by which a pause is shortened at random, so that replicas do not check at the same time. */
const JITTER = 0.2;

type Own = RegistrySource<ServiceOrigin>;

/** Returns undefined if the configuration assigns no source to the service. */
export async function startSync(config: RegistryConfig, deps: SyncDeps): Promise<RunningSync | undefined> {
  const sources = config.registries.filter(isOwn);
  if (sources.length === 0) return undefined;
  // Creates a folder only for Git sources, because a container that only reads mounted files may have no writable
  // folder.
  const copies = sources.some(({ origin }) => origin.type === 'git');
  const temporary =
    copies && config.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'skep-registry-')) : undefined;
  const order = {
    registry: { namespace: config.namespace, registry: config.registryName },
    sources,
    outbound: config.outbound,
    dir: temporary ?? join(config.dataDir ?? '', 'git'),
    database: deps.database,
  };
  const stopping = new AbortController();
  const running = run(deps, order, config, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    },
  };
}

function isOwn(registry: ServedRegistry): registry is ServedRegistry & Own {
  const { origin, syncedBy } = registry;
  return syncedBy === 'service' && origin.type !== 'kubernetes' && origin.type !== 'managed';
}

/** Checks and syncs until `signal` is aborted. If the store fails, logs this and continues. */
async function run(
  { writer, clock, logger, random, everyMs = DUE_EVERY_MS }: SyncDeps,
  order: RoundOrder,
  { registries }: RegistryConfig,
  signal: AbortSignal,
): Promise<void> {
  const { registry, sources } = order;
  const report = (news: SyncNews) => logNews(logger, news);
  const crashes = watchCrashes({ writer, clock, logger }, order.registry, signal);
  // Deletes entries of removed registries only once. Otherwise a replica with an older configuration would delete
  // entries of a newer configuration again and again.
  let retained = registries.some(({ syncedBy }) => syncedBy === 'reconciler');
  while (!signal.aborted) {
    try {
      if (!retained) {
        await writer.retain(
          registry,
          registries.map(({ name }) => name),
        );
      }
      retained = true;
      const states = await writer.states(registry);
      const freeSources = sources.filter((source) => isFree(source, states[source.name], clock.now()));
      for (const group of crashes.groupsOf(await crashes.recordPending(freeSources))) {
        await crashes.attempt(group, () => syncInThread({ ...order, sources: group }, report, signal));
      }
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (!signal.aborted) logger.error({ code: failure.code }, `sync: ${failure.message}`);
    }
    await clock.sleep(everyMs * (1 - JITTER * random()), signal);
  }
}

/** Returns true if a source is due and no replica has claimed it. A thread for claimed sources would do nothing. */
function isFree(source: Own, state: SourceState | undefined, now: number): boolean {
  return state?.claimed !== true && due(source, state, undefined, now).due;
}
