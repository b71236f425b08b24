// The registry service as a host of the sync: it reads what its configuration leaves to it, as long as it runs. Any
// number of replicas may do so: the store gives each source to one of them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { createOutbound } from '../../adapters/http/outbound.ts';
import { readApi } from '../../adapters/sources/api.ts';
import { readFileSource } from '../../adapters/sources/file.ts';
import { readUrl } from '../../adapters/sources/url.ts';
import type { CatalogueWriter, Source } from '../../catalogue/ports.ts';
import { type RoundPorts, type RoundRequest, syncRound } from '../../catalogue/round.ts';
import type { SyncOutcome } from '../../catalogue/sync.ts';
import type { RegistryConfig, ServedRegistry } from '../../contracts/registry/service.ts';
import type { RegistrySource, ServiceOrigin } from '../../contracts/registry/source.ts';
import type { Clock } from '../../reconcile/ports.ts';
import { Failure } from '../../std/failure.ts';
import { formatProblem } from '../../std/problem.ts';
import { egressFrom } from '../egress.ts';
import { readGit } from '../instance/registry-git.ts';
import { authOf, type GitDeps } from '../instance/repositories.ts';
import { VERSION } from '../version.ts';

export interface RunningSync {
  /** Gives up what is under way; another replica may take it over at once. */
  stop(): Promise<void>;
}

export interface SyncDeps {
  readonly writer: CatalogueWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** How long to wait between two looks at what is due; 10 s. */
  readonly everyMs?: number;
}

/** As long as nothing is due, one small query each. */
const EVERY_MS = 10_000;
/** Replicas that started together need not look together. */
const JITTER = 0.2;
const AT_A_TIME = 4;

type Own = RegistrySource<ServiceOrigin>;

/** Undefined where the configuration leaves nothing to the service. */
export async function startSync(config: RegistryConfig, deps: SyncDeps): Promise<RunningSync | undefined> {
  const sources = config.registries.filter(isOwn);
  if (sources.length === 0) return undefined;
  const { allowPrivate, caFile, allowFiles } = config.outbound;
  const outbound = createOutbound({ allowPrivate, caFile, egress: egressFrom(process.env), version: VERSION });
  // A container that only reads what is mounted into it may have no place to write.
  const copies = sources.some(({ origin }) => origin.type === 'git');
  const temporary =
    copies && config.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'skep-registry-')) : undefined;
  const dir = temporary ?? join(config.dataDir ?? '', 'git');
  const stopping = new AbortController();
  const ports = {
    source: serviceSource({ outbound, allowFiles, dir, clock: deps.clock, credentials: [] }),
    writer: deps.writer,
    now: () => deps.clock.now(),
    inTurn: pLimit(AT_A_TIME),
  };
  const registry = { namespace: config.namespace, registry: config.registryName };
  const request = { registry, sources, trigger: undefined, signal: stopping.signal };
  const running = run(deps, ports, request, config);
  return {
    async stop() {
      stopping.abort();
      await running;
      await outbound.close();
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    },
  };
}

function isOwn(registry: ServedRegistry): registry is ServedRegistry & Own {
  const { origin, syncedBy } = registry;
  return syncedBy === 'service' && origin.type !== 'kubernetes' && origin.type !== 'managed';
}

/** Round after round; a store that cannot be reached is told, and tried again. */
async function run(
  { writer, clock, logger, random, everyMs = EVERY_MS }: SyncDeps,
  ports: RoundPorts<ServiceOrigin>,
  request: RoundRequest<ServiceOrigin>,
  { registries }: RegistryConfig,
): Promise<void> {
  const { signal, registry } = request;
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
      for (const outcome of await syncRound(ports, request)) logOutcome(logger, outcome);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      if (!signal.aborted) logger.error({ code: failure.code }, `sync: ${failure.message}`);
    }
    await clock.sleep(everyMs * (1 - JITTER * random()), signal);
  }
}

function logOutcome(logger: Logger, { key, result, state, written, problems }: SyncOutcome): void {
  const facts = { registry: key.source, servers: state.serverCount, rejected: state.rejectedCount };
  for (const problem of problems) logger.warn({ registry: key.source }, formatProblem(problem));
  if (result === 'failed') logger.error({ ...facts, attempt: state.attemptCount }, `sync failed: ${state.message}`);
  else if (written === undefined) logger.debug(facts, 'sync: unchanged');
  else logger.info({ ...facts, ...written }, 'synced');
}

function serviceSource(deps: GitDeps): Source<ServiceOrigin> {
  const { outbound, clock } = deps;
  return {
    async read(request) {
      const { origin } = request;
      switch (origin.type) {
        case 'git':
          return await readGit(deps, origin, authOf);
        case 'api':
          return await readApi({ outbound, now: () => clock.now() }, { ...request, origin });
        case 'url':
          return await readUrl(outbound, { ...request, origin });
        case 'file':
          return await readFileSource(origin.path);
      }
    },
  };
}
