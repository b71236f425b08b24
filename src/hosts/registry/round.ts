// Syncs the due sources of a registry in a worker thread. In the main thread, parsing tens of megabytes and comparing
// thousands of entries would delay clients.

import { parentPort, workerData } from 'node:worker_threads';
import { createOutbound } from '#adapters/http/outbound.ts';
import type { DatabaseSettings } from '#adapters/postgres/pool.ts';
import { readApi } from '#adapters/sources/api.ts';
import { readFileSource } from '#adapters/sources/file.ts';
import { readUrl } from '#adapters/sources/url.ts';
import type { RegistryConfig } from '#contracts/registry/service.ts';
import type { RegistrySource, ServiceOrigin } from '#contracts/registry/source.ts';
import type { SourceKey, SourceReader } from '#registry/catalogue/ports.ts';
import { syncRound } from '#registry/catalogue/round.ts';
import type { SyncOutcome } from '#registry/catalogue/sync.ts';
import { openTurns } from '#registry/catalogue/turns.ts';
import { Failure } from '#std/failure.ts';
import { systemClock } from '../clock.ts';
import { openDatabase } from '../database.ts';
import { egressFrom } from '../egress.ts';
import { readGit } from '../reconciler/instance/registry-git.ts';
import { authOf, type GitDeps } from '../reconciler/instance/repositories.ts';
import { VERSION } from '../version.ts';

/** Data with which the thread is started. */
export interface RoundOrder {
  readonly registry: Omit<SourceKey, 'source'>;
  readonly sources: readonly RegistrySource<ServiceOrigin>[];
  readonly outbound: RegistryConfig['outbound'];
  /** Folder for clones of Git repositories. */
  readonly dir: string;
  readonly database: DatabaseSettings;
}

/** Result of the sync of one source. */
export type SyncNews = Omit<SyncOutcome, 'failure'>;

/**
 * Only message of the thread: the results, or the reason why the store failed. The main thread sends any message to
 * abort the thread.
 */
export type RoundEnd = { readonly outcomes: readonly SyncNews[] } | { readonly code: string; readonly message: string };

/** Maximum number of database connections of the thread. The service has further connections. */
const AT_A_TIME = 4;

async function readRound({ registry, sources, ...order }: RoundOrder, signal: AbortSignal): Promise<RoundEnd> {
  const { allowPrivate, allowFiles, caFile } = order.outbound;
  const outbound = createOutbound({ allowPrivate, caFile, egress: egressFrom(process.env), version: VERSION });
  const { maxOpenConns = AT_A_TIME } = order.database;
  const store = openDatabase({ ...order.database, maxOpenConns: Math.min(maxOpenConns, AT_A_TIME) });
  try {
    const clock = systemClock;
    const source = serviceSource({ outbound, allowFiles, dir: order.dir, clock, credentials: [] });
    const ports = { source, writer: store, now: () => clock.now(), inTurn: openTurns(clock) };
    const outcomes = await syncRound(ports, { registry, sources, trigger: undefined, signal });
    // A Failure cannot be sent between threads. The state contains its reason.
    return { outcomes: outcomes.map(({ failure: _, ...news }) => news) };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { code: failure.code, message: failure.message };
  } finally {
    await outbound.close();
    await store.close();
  }
}

function serviceSource(deps: GitDeps): SourceReader<ServiceOrigin> {
  const { outbound, clock } = deps;
  return {
    // The declared type makes the compiler report an unhandled origin at this line.
    async read(request): ReturnType<SourceReader<ServiceOrigin>['read']> {
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

const giveUp = new AbortController();
parentPort?.once('message', () => giveUp.abort());
const end: RoundEnd = await readRound(workerData as RoundOrder, giveUp.signal);
parentPort?.postMessage(end);
parentPort?.close();
