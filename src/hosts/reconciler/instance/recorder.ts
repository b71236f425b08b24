// Stores the history of an instance's runs, in its database or in the cluster. A run without changes and news is
// written only to the state folder (docs/decisions/0160).

import { join } from 'node:path';
import { createHistory } from '#adapters/postgres/history.ts';
import { openPool, type Pool } from '#adapters/postgres/pool.ts';
import { openClusterHistory } from '#reconciler/run/history/in-cluster.ts';
import type { HistoryStore, RunRecord } from '#reconciler/run/history/ports.ts';
import { completed, isNews } from '#reconciler/run/history/record.ts';
import type { Cluster } from '#reconciler/run/ports.ts';
import { Failure } from '#std/failure.ts';
import type { ResourceId } from '#std/problem.ts';
import type { Config } from '../../config/config.ts';
import { migrateAtStart, withFiles } from '../../database.ts';
import { writeState } from '../../state-file.ts';

export interface History extends HistoryStore {
  close(): Promise<void>;
}

/** Opens the store of the history without connecting to the database. */
export function openHistory(
  config: Config,
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>,
  homeNamespace: string,
): History {
  const home = { instance: config.name, homeNamespace, limit: config.history.limit };
  if (config.catalogue === undefined) {
    return { ...openClusterHistory(cluster, home), close: async () => undefined };
  }
  const { migrationUser, ...app } = config.catalogue.database;
  const pool: Pool = openPool(withFiles({ ...app, maxOpenConns: 1 }));
  const store = createHistory(pool, home);
  let migrated = false;
  return {
    latest: store.latest,
    replace: store.replace,
    async append(record) {
      if (!migrated) await migrateAtStart(app, { user: migrationUser });
      migrated = true;
      await store.append(record);
    },
    close: () => pool.close(),
  };
}

export interface Recorder {
  /** Records the run, and returns the Failures of the store. These Failures do not change the result of the run. */
  record(record: RunRecord, ready: readonly ResourceId[]): Promise<readonly Failure[]>;
}

/** Maximum number of runs that wait for a store that does not respond. */
const WAITING_MAX = 20;
/** Maximum number of runs whose resources may still become ready. */
const OPEN_MAX = 20;

export function openRecorder(config: Config, history: HistoryStore): Recorder {
  let before: RunRecord | undefined;
  let waiting: readonly RunRecord[] = [];
  /** Records of runs in state `progressing`; undefined until the history has been read. */
  let open: readonly RunRecord[] | undefined;

  async function complete(record: RunRecord, ready: readonly ResourceId[]): Promise<void> {
    for (const each of open ?? []) {
      const now = completed(each, record, ready, config.apply.waitSeconds);
      if (now === undefined) continue;
      await history.replace(now);
      open = open?.filter(({ id }) => id !== now.id);
    }
  }

  async function append(record: RunRecord, ready: readonly ResourceId[]): Promise<void> {
    if (open === undefined) {
      const latest = await history.latest(OPEN_MAX);
      before ??= latest[0];
      open = latest.filter(({ state }) => state === 'progressing');
    }
    await complete(record, ready);
    const last = waiting.at(-1) ?? before;
    if (isNews(record, last)) waiting = [...waiting, record].slice(-WAITING_MAX);
    for (const next of waiting) {
      await history.append(next);
      before = next;
      if (next.state === 'progressing') open = [...open, next].slice(-OPEN_MAX);
      waiting = waiting.filter((each) => each !== next);
    }
  }

  return {
    async record(record, ready) {
      const attempts = [() => append(record, ready), () => writeState(lastRunFile(config), lastRun(record))];
      const results = await Promise.allSettled(attempts.map((attempt) => attempt()));
      return results.flatMap((result) => {
        if (result.status === 'fulfilled') return [];
        if (!(result.reason instanceof Failure)) throw result.reason;
        return [notRecorded(result.reason)];
      });
    },
  };
}

/** Returns the path of the file about the last run. The file is written even for a run without news. */
export function lastRunFile({ stateDir, name }: Config): string {
  return join(stateDir, `${name}-last-run.json`);
}

function lastRun({ id, startedAt, finishedAt, state, commits }: RunRecord): string {
  return JSON.stringify({ version: 1, id, startedAt, finishedAt, state, commits });
}

function notRecorded(cause: Failure): Failure {
  const message = `the run could not be recorded: ${cause.message} [${cause.code}]`;
  return new Failure('history-not-recorded', message, { cause, retryable: cause.retryable });
}
