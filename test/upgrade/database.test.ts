// An upgrade over what earlier releases left in a database: the schema goes forward while replicas of the release before ask
// and write as they do, nothing is lost, and clients get the answers that they got before.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '#adapters/postgres/connect.ts';
import { migrate, readMigrationStatus } from '#adapters/postgres/migrate.ts';
import { openPool } from '#adapters/postgres/pool.ts';
import { createStore } from '#adapters/postgres/store.ts';
import { readRegistryConfig } from '#contracts/registry/config-read.ts';
import { type Service, startService } from '#hosts/registry/serve.ts';
import { serviceSettings } from '../../scripts/release/database.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type Query, type RecordedRelease, recordedReleases } from './recorded.ts';

const OWN = fileURLToPath(new URL('../../src/adapters/postgres/migrations', import.meta.url));

/** As a release may add: to tables that are in use, with an index that is built while others write. */
const NEXT = {
  '9998-next.sql': `alter table catalogue_entry add column next text not null default 'x';
    alter table catalogue_source add column next integer;
    alter table catalogue_run add column next jsonb not null default '{}';
    create table catalogue_next (x int)`,
  '9999-index.sql':
    '-- no transaction\ncreate index concurrently catalogue_entry_next on catalogue_entry (next, updated_at)',
};

describe.each(recordedReleases())('from $tag', (release) => {
  let database: TestDatabase;
  let replica: Awaited<ReturnType<typeof connect>>;
  let directory: string;
  let before: readonly unknown[];

  beforeAll(async () => {
    database = await createTestDatabase('empty');
    const options = { appUser: database.app.user, directory: release.migrations };
    await migrate(database.migrator, options);
    await fill(database, release);
    replica = await connect(database.app);
    before = await ask(release.queries);
    directory = mkdtempSync(join(tmpdir(), 'skep-upgrade-'));
    const own = readdirSync(OWN).map((name) => [name, readFileSync(join(OWN, name), 'utf8')] as const);
    for (const [name, sql] of [...own, ...Object.entries(NEXT)]) writeFileSync(join(directory, name), sql);
  });
  afterAll(async () => {
    await replica?.client.end();
    rmSync(directory, { recursive: true });
    await database?.drop();
  });

  /** What a replica of the release asks and writes, each for itself and taken back. */
  async function ask(queries: readonly Query[]): Promise<readonly unknown[]> {
    const answers: unknown[] = [];
    for (const { text, values } of queries) {
      await replica.client.query('begin');
      const { rows, rowCount } = await replica.client.query<Record<string, unknown>>(text, [...values]);
      await replica.client.query('rollback');
      answers.push({ text, rowCount, rows: rows.map(({ claim: _random, ...row }) => row) });
    }
    return answers;
  }

  test('what has been applied is known as the same', async () => {
    const applied = (release.rows.skep_migrations ?? []).map(({ name, sha256 }) => ({ name, sha256 }));
    expect(await database.sql('select name, sha256 from skep_migrations order by name')).toEqual(applied);
    const states = new Set((await readMigrationStatus(database.migrator)).map(({ state }) => state));
    expect([...states].filter((state) => state !== 'applied' && state !== 'pending')).toEqual([]);
  });

  test('replicas of the release ask and write as before, while the schema goes forward and afterwards', async () => {
    let migrating = true;
    const migration = migrate(database.migrator, { appUser: database.app.user, directory }).finally(() => {
      migrating = false;
    });
    while (migrating) expect(await ask(release.queries)).toEqual(before);
    expect(await migration).toEqual(expect.arrayContaining(Object.keys(NEXT)));
    expect(await ask(release.queries)).toEqual(before);
  });

  test('every row is there, with what it had', async () => {
    for (const [table, rows] of Object.entries(release.rows)) {
      const found = await database.sql<{ row: object }>(`select to_json(t) as row from ${table} t`);
      expect(found.map(({ row }) => row)).toEqual(expect.arrayContaining(rows.map(asInstants)));
    }
  });

  test('clients get the answers that they got', async () => {
    const service = await serve(database);
    try {
      for (const { path, status, body } of release.answers) {
        const answer = await fetch(`${service.url}${path}`);
        // More than they got is no break.
        expect([path, answer.status, await answer.json()]).toMatchObject([path, status, body]);
      }
    } finally {
      await service.stop();
    }
  });

  test('what was asked for is still asked for, and a source can be claimed', async () => {
    const store = createStore(openPool(database.app));
    const key = { namespace: 'upgrade-platform', registry: 'catalogue', source: 'all' };
    const [row] = await database.sql(
      'select requests - requests_served as left from catalogue_source where source = $1',
      ['all'],
    );
    const claim = await store.claim(key);
    await claim?.release();
    await store.close();
    expect([row, claim === undefined]).toEqual([{ left: '1' }, false]);
  });

  test('a replica whose schema is behind is not ready, and says why', async () => {
    await database.sql('alter table catalogue_entry rename column title to title_of_another_release');
    const lines: string[] = [];
    const service = await serve(database, lines);
    const ready = await fetch(`${service.url}/readiness`);
    await service.stop();
    await database.sql('alter table catalogue_entry rename column title_of_another_release to title');
    expect([ready.status, await ready.json()]).toEqual([503, { error: 'not ready: the catalogue cannot be read' }]);
    expect(lines.join('')).toContain('column e.title does not exist');
  });
});

/** As the rows were; numbers that the database gives go on after them. */
async function fill(database: TestDatabase, { rows }: RecordedRelease): Promise<void> {
  const { skep_migrations: _known, ...tables } = rows;
  const order = ['catalogue_source', ...Object.keys(tables).filter((name) => name !== 'catalogue_source')];
  for (const table of order) {
    await database.sql(
      `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1)`,
      [JSON.stringify(tables[table])],
    );
    const columns = await database.sql<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = $1 and is_identity = 'YES'`,
      [table],
    );
    for (const { name } of columns)
      await database.sql(`select setval(pg_get_serial_sequence($1, $2), (select max(${name}) from ${table}))`, [
        table,
        name,
      ]);
  }
}

/** Columns that came later do not count. */
function asInstants(row: object): object {
  const { applied_at: _when, ...rest } = row as { applied_at?: string };
  return expect.objectContaining(rest);
}

async function serve({ app }: TestDatabase, lines: string[] = []): Promise<Service> {
  const { host, port, database, user, password, sslMode } = app;
  const text = JSON.stringify(serviceSettings({ host, port, database, user, sslMode }));
  const read = readRegistryConfig(text, 'registry.yaml');
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  const store = createStore(
    openPool({ host, port, database, user, sslMode, ...(password === undefined ? {} : { password }) }),
  );
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
  const service = await startService(read.config, store, logger);
  return {
    ...service,
    stop: async () => {
      await service.stop();
      await store.close();
    },
  };
}
