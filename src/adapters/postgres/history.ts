// Stores the history of an instance's runs in PostgreSQL.

import type { HistoryStore, RunRecord } from '#reconciler/run/history/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Pool } from './pool.ts';

export interface HistoryOwner {
  readonly instance: string;
  readonly homeNamespace: string;
  readonly limit: number;
}

const OWN = 'namespace = $1 and instance = $2';

/** Opens no connection before the first call of a method. */
export function createHistory(pool: Pool, { instance, homeNamespace, limit }: HistoryOwner): HistoryStore {
  const owner = [homeNamespace, instance];
  return {
    async latest(count) {
      try {
        return await pool.use(async (client) => {
          const text = `select record from catalogue_run where ${OWN} order by number desc limit $3`;
          const { rows } = await client.query<{ record: RunRecord }>(text, [...owner, count]);
          return rows.map(({ record }) => record);
        });
      } catch (error) {
        // No run has been recorded yet. The first record creates the schema.
        if (error instanceof Failure && error.code === 'database-not-migrated') return [];
        throw error;
      }
    },
    async replace(record) {
      await pool.use(async (client) => {
        const update = `update catalogue_run set record = $3 where ${OWN} and record ->> 'id' = $4`;
        await client.query(update, [...owner, JSON.stringify(record), record.id]);
      });
    },
    async append(record) {
      await pool.transaction(async (client) => {
        const insert = 'insert into catalogue_run (namespace, instance, record) values ($1, $2, $3)';
        await client.query(insert, [...owner, JSON.stringify(record)]);
        await client.query(
          `delete from catalogue_run where ${OWN} and number <=
             (select number from catalogue_run where ${OWN} order by number desc limit 1 offset $3)`,
          [...owner, limit],
        );
      });
    },
  };
}
