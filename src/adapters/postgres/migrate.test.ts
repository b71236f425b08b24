import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CatalogueEntry } from '#registry/catalogue/entry.ts';
import { Failure } from '#std/failure.ts';
import { eventually } from '../../../test/harness/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { connect } from './connect.ts';
import { migrate, readMigrationStatus } from './migrate.ts';
import { openPool } from './pool.ts';
import { createStore } from './store.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await createTestDatabase('empty');
  directory = mkdtempSync(join(tmpdir(), 'skep-migrations-'));
});
afterEach(async () => {
  rmSync(directory, { recursive: true });
  await database.drop();
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql);
}

async function states(): Promise<string[]> {
  return (await readMigrationStatus(database.migrator, directory)).map(({ name, state }) => `${name} ${state}`);
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const outcome: unknown = await promise.then(
    (value) => `resolved: ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Failure);
  return outcome as Failure;
}

const up = () => migrate(database.migrator, { appUser: database.app.user, directory });

describe('migrations', () => {
  test('are applied once, in the order of their names', async () => {
    write({ '0002-b.sql': 'alter table a add column y int', '0001-a.sql': 'create table a (x int)', 'notes.txt': 'x' });
    expect(await states()).toEqual(['0001-a.sql pending', '0002-b.sql pending']);
    expect(await up()).toEqual(['0001-a.sql', '0002-b.sql']);
    expect(await up()).toEqual([]);
    expect(await states()).toEqual(['0001-a.sql applied', '0002-b.sql applied']);
    write({ '0003-c.sql': 'create table c ()' });
    expect(await up()).toEqual(['0003-c.sql']);
  });

  test('can be run by several processes at the same time', async () => {
    write({ '0001-a.sql': 'create table a (x int); select pg_sleep(0.3)' });
    const applied = await Promise.all([up(), up(), up(), up()]);
    expect(applied.flat()).toEqual(['0001-a.sql']);
  });

  test('that fail are rolled back and reported with the name of the file', async () => {
    write({ '0001-a.sql': 'create table a (x int)', '0002-b.sql': 'create table b (x int); create table a ()' });
    const failure = await failureOf(up());
    expect(failure.code).toBe('database-migration-failed');
    expect(failure.message).toContain('0002-b.sql: ');
    expect(failure.message).toContain('relation "a" already exists');
    expect(await states()).toEqual(['0001-a.sql applied', '0002-b.sql pending']);
    expect(await database.sql("select to_regclass('b') as b")).toEqual([{ b: null }]);
  });

  test('and their records are committed together', async () => {
    write({ '0001-a.sql': 'create table a (x int); alter table skep_migrations rename to b' });
    expect((await failureOf(up())).code).toBe('database-migration-failed');
    expect(await database.sql("select to_regclass('a') as a, to_regclass('b') as b")).toEqual([{ a: null, b: null }]);
    expect(await states()).toEqual(['0001-a.sql pending']);
  });

  test('that are interrupted are rolled back, and a waiting process continues', async () => {
    write({ '0001-a.sql': 'create table a (x int)', '0002-b.sql': 'create table b (x int); select pg_sleep(1)' });
    const interrupted = failureOf(up());
    const killed = await eventually(
      () =>
        database.sql(
          "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(1)' and pid <> pg_backend_pid()",
        ),
      (rows) => rows.length > 0,
    );
    expect(killed).toHaveLength(1);
    const waiting = up();
    expect((await interrupted).code).toBe('database-unreachable');
    expect(await waiting).toEqual(['0002-b.sql']);
    expect(await states()).toEqual(['0001-a.sql applied', '0002-b.sql applied']);
  });

  test('stop if an applied file has another content', async () => {
    write({ '0001-a.sql': 'create table a (x int)' });
    await up();
    write({ '0001-a.sql': 'create table a (x text)', '0002-b.sql': 'create table b ()' });
    expect((await failureOf(up())).code).toBe('database-migration-changed');
    expect(await states()).toEqual(['0001-a.sql changed', '0002-b.sql pending']);
  });

  test('stop if a newer release has applied a migration', async () => {
    write({ '0001-a.sql': 'create table a ()', '0002-b.sql': 'create table b ()' });
    await up();
    rmSync(join(directory, '0002-b.sql'));
    expect((await failureOf(up())).code).toBe('database-migration-unknown');
    expect(await states()).toEqual(['0001-a.sql applied', '0002-b.sql unknown']);
  });

  test('can run outside a transaction, so that an index is built while other clients write', async () => {
    write({
      '0001-a.sql': 'create table a (x int)',
      '0002-b.sql': '-- no transaction\ncreate index concurrently b on a (x)',
    });
    expect(await Promise.all([up(), up()])).toEqual(expect.arrayContaining([['0001-a.sql', '0002-b.sql'], []]));
    expect(await database.sql("select to_regclass('b')::text as b")).toEqual([{ b: 'b' }]);
  });

  test('let readers continue while a table is in use, and are applied later', async () => {
    write({ '0001-a.sql': 'create table a (x int)' });
    await up();
    write({ '0002-b.sql': 'alter table a add column y int' });
    const [long, reader] = await Promise.all([connect(database.migrator), connect(database.migrator)]);
    await long.client.query('begin; insert into a values (1)');
    const migrating = up();
    // The next reader waits too, because the migration's pending lock request blocks later requests.
    await expect
      .poll(() => database.sql("select 1 from pg_locks where relation = 'a'::regclass and not granted"))
      .toHaveLength(1);
    await reader.client.query('select x from a');
    await long.client.query('commit');
    expect(await migrating).toEqual(['0002-b.sql']);
    await Promise.all([long.client.end(), reader.client.end()]);
  });

  test('fail as the application user, who has no permission', async () => {
    write({ '0001-a.sql': 'create table a (x int)' });
    const failure = await failureOf(migrate(database.app, { appUser: database.app.user, directory }));
    expect(failure.code).toBe('database-forbidden');
  });

  test('grant the application user permissions on rows of the catalogue, even if the user is new', async () => {
    write({ '0001-a.sql': 'create table catalogue_a (x int); create table other (x int)' });
    await migrate(database.migrator, { appUser: database.migrator.user, directory });
    const rights = (user: string, table: string) =>
      database.sql<{ right: string }>(
        `select unnest as right from unnest(array['select','insert','update','delete','truncate','references','trigger'])
         where has_table_privilege($1, $2, unnest)`,
        [user, table],
      );
    expect(await rights(database.app.user, 'catalogue_a')).toEqual([]);
    expect(await up()).toEqual([]);
    const granted = (await rights(database.app.user, 'catalogue_a')).map(({ right }) => right);
    expect(granted).toEqual(['select', 'insert', 'update', 'delete']);
    expect(await rights(database.app.user, 'other')).toEqual([]);
  });

  test('can grant permissions to a name with special characters', async () => {
    write({ '0001-a.sql': 'create table catalogue_a (x int)' });
    const odd = 'no "such" user';
    const failure = await failureOf(migrate(database.migrator, { appUser: odd, directory }));
    expect(failure.message).toContain(`role "${odd}" does not exist`);
  });
});

describe('our own migrations', () => {
  test('only add to tables after the first migration, so that replicas of the previous release can continue', () => {
    const breaking = /\b(drop|rename|delete|truncate|set not null|type)\b|add column(?![^,;]*default)[^,;]*not null/i;
    for (const { name, sql } of ownMigrations().slice(1)) {
      expect(`${name} ${breaking.exec(sql.replaceAll(/--.*$/gm, ''))?.[0]}`).toBe(`${name} undefined`);
    }
  });

  test('can be followed by migrations of a newer release, while this release syncs, serves and restarts', async () => {
    await migrate(database.migrator, { appUser: database.app.user });
    for (const { name, sql } of ownMigrations()) write({ [name]: sql });
    write({
      '9999-next.sql': `alter table catalogue_entry add column next text not null default 'x';
        alter table catalogue_source add column next integer;
        create table catalogue_next (x int);
        create index catalogue_entry_next on catalogue_entry (next)`,
    });
    const store = createStore(openPool(database.app));
    const key = { namespace: 'a', registry: 'b', source: 'c' };
    const query = { limit: 10, includeDeleted: false };
    await store.replace(key, [ENTRY], STATE, () => NOW);
    const before = await store.list(key, query);
    expect(await up()).toEqual(['9999-next.sql']);
    expect(await store.list(key, query)).toEqual(before);
    await store.replace(key, [{ ...ENTRY, version: '2.0.0' }], STATE, () => NOW);
    const claim = await store.claim(key);
    await claim?.release();
    await store.close();
    const another = createStore(openPool(database.app));
    expect((await another.list(key, query)).entries.map(({ version }) => version)).toEqual(['2.0.0']);
    await another.close();
    // `skep serve` also migrates at its start. It leaves a newer schema unchanged.
    const failure = await failureOf(migrate(database.migrator, { appUser: database.app.user }));
    expect(failure.code).toBe('database-migration-unknown');
  });

  test('are complete for an empty database', async () => {
    const applied = await migrate(database.migrator, { appUser: database.app.user });
    expect(applied[0]).toBe('0001-catalogue.sql');
    const statuses = await readMigrationStatus(database.migrator);
    expect(statuses.map(({ name, state }) => ({ name, state }))).toEqual(
      applied.map((name) => ({ name, state: 'applied' })),
    );
    expect(Date.parse(statuses[0]?.appliedAt ?? '')).not.toBeNaN();
  });
});

function ownMigrations(): { name: string; sql: string }[] {
  const folder = new URL('./migrations/', import.meta.url);
  const names = readdirSync(folder).sort();
  return names.map((name) => ({ name, sql: readFileSync(new URL(name, folder), 'utf8') }));
}

const NOW = '2026-01-01T00:00:00.000Z';
const STATE = { phase: 'Complete', message: '', attemptCount: 0, serverCount: 1, rejectedCount: 0 } as const;
const ENTRY: CatalogueEntry = {
  name: 'io.acme/a',
  version: '1.0.0',
  document: { name: 'io.acme/a', description: 'A', version: '1.0.0' },
  description: 'A',
  tags: [],
  status: 'active',
  transports: [],
  images: [],
};
