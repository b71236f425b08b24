// The registry service as a host of the sync: it reads what its configuration leaves to it, as long as it runs. Any
// number of replicas may do so: the store gives each source to one of them. What it serves with only looks whether a source is
// due; a thread reads it.

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
  /** Gives up what is under way; another replica may take it over at once. */
  stop(): Promise<void>;
}

export interface SyncDeps {
  /** Says what is due. */
  readonly writer: CatalogueWriter;
  /** What the thread connects to: the same. */
  readonly database: DatabaseSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** How long to wait between two looks at what is due; 10 s. */
  readonly everyMs?: number;
}

/** As long as nothing is due, one small query each. */
/** Replicas that started together need not look together. */
const JITTER = 0.2;

type Own = RegistrySource<ServiceOrigin>;

/** Undefined where the configuration leaves nothing to the service. */
export async function startSync(config: RegistryConfig, deps: SyncDeps): Promise<RunningSync | undefined> {
  const sources = config.registries.filter(isOwn);
  if (sources.length === 0) return undefined;
  // A container that only reads what is mounted into it may have no place to write.
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

/** Round after round; a store that cannot be reached is reported, and tried again. */
async function run(
  { writer, clock, logger, random, everyMs = DUE_EVERY_MS }: SyncDeps,
  order: RoundOrder,
  { registries }: RegistryConfig,
  signal: AbortSignal,
): Promise<void> {
  const { registry, sources } = order;
  const report = (news: SyncNews) => logNews(logger, news);
  const crashes = watchCrashes({ writer, clock, logger }, order.registry, signal);
  // A replica with an older configuration must not take away, round after round, what a newer one has.
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
      const wanted = sources.filter((source) => isFree(source, states[source.name], clock.now()));
      for (const group of crashes.groupsOf(await crashes.recordPending(wanted))) {
        await crashes.attempt(group, () => syncInThread({ ...order, sources: group }, report, signal));
      }
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (!signal.aborted) logger.error({ code: failure.code }, `sync: ${failure.message}`);
    }
    await clock.sleep(everyMs * (1 - JITTER * random()), signal);
  }
}

/** Due, and no one's yet: a thread that finds each claimed would be started for nothing, look after look. */
function isFree(source: Own, state: SourceState | undefined, now: number): boolean {
  return state?.claimed !== true && due(source, state, undefined, now).due;
}
