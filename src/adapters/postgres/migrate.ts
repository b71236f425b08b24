// Migrates the database's schema with the SQL files in `migrations`, as the migration user. The application user gets
// only permissions on rows.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { Failure } from '#std/failure.ts';
import { sha256 } from '#std/hash.ts';
import { connect, type DatabaseAddress } from './connect.ts';
import { databaseFailure, describePlace } from './failure.ts';
import { pgPackage } from './package.ts';

export interface MigrateOptions {
  /** Role that gets SELECT, INSERT, UPDATE and DELETE on the tables. */
  readonly appUser: string;
  /** Folder of `NNNN-name.sql` files. Default: the folder `migrations`. */
  readonly directory?: string;
}

export interface MigrationStatus {
  readonly name: string;
  /** `changed`: applied with another content. `unknown`: applied by a newer release. This release lacks the file. */
  readonly state: 'applied' | 'pending' | 'changed' | 'unknown';
  /** RFC 3339. */
  readonly appliedAt?: string;
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly hash: string;
}

const OWN_MIGRATIONS = fileURLToPath(new URL('./migrations/', import.meta.url));
const LOCK_TIMEOUT_MS = 60_000;
const LOCK_POLL_MS = 200;
/**
 * Milliseconds for which a migration waits for a table in use. During the wait, all clients of the table wait too,
 * including readers. The migration then lets them continue and tries again, so that replicas of the previous release
 * keep serving. The time is much shorter than PostgreSQL's `deadlock_timeout` (1 s). In a deadlock with a replica, the
 * migration therefore gives up first.
 */
const TABLE_LOCK_MS = 300;
const TABLE_LOCK_TRIES = 100;
/** SQLSTATE lock_not_available (PostgreSQL, appendix A). */
const NO_LOCK = '55P03';
/** Advisory lock key that other programs are unlikely to use: 8 bytes of a digest. */
const LOCK_KEY = BigInt.asIntN(64, BigInt(`0x${sha256('skep migrations').slice(0, 16)}`)).toString();
/** First line of a migration that cannot run in a transaction (CREATE INDEX CONCURRENTLY). */
const NO_TRANSACTION = '-- no transaction';

/**
 * Applies pending migrations in the order of their names. Grants the application user its permissions. Only one process
 * migrates at a time. Other processes wait. Returns the names of the applied files.
 */
export async function migrate(address: DatabaseAddress, options: MigrateOptions): Promise<readonly string[]> {
  return await connected(address, async (client) => {
    await lock(client, address);
    await client.query(
      'create table if not exists skep_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    );
    const migrations = await readMigrations(options.directory);
    const pending = pendingOf(migrations, await migrationStatuses(client, migrations), address);
    for (const migration of pending) await apply(client, migration, address);
    await grant(client, options.appUser);
    return pending.map(({ name }) => name);
  });
}

/** Returns the state of all migrations without changing anything. */
export async function readMigrationStatus(
  address: DatabaseAddress,
  directory?: string,
): Promise<readonly MigrationStatus[]> {
  const migrations = await readMigrations(directory);
  return await connected(address, (client) => migrationStatuses(client, migrations));
}

async function connected<T>(address: DatabaseAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  // No limit, because the creation of an index may take long.
  const { client } = await connect({ statementTimeoutMs: 0, ...address });
  try {
    return await work(client);
  } catch (error) {
    throw databaseFailure(error, address);
  } finally {
    // The end of the session releases the lock.
    await client.end().catch(() => undefined);
  }
}

/** Polls the lock. A wait inside the database would deadlock with CREATE INDEX CONCURRENTLY of the lock's holder. */
async function lock(client: pg.Client, address: DatabaseAddress): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK_KEY]);
    if (rows[0]?.locked === true) return;
    if (performance.now() > deadline) {
      const message = `${describePlace(address)}: another migration has been running for ${LOCK_TIMEOUT_MS / 1000} s`;
      throw new Failure('database-busy', message, { retryable: true });
    }
    await pause(LOCK_POLL_MS);
  }
}

async function readMigrations(directory = OWN_MIGRATIONS): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(directory, name), 'utf8');
      return { name, sql, hash: sha256(sql) };
    }),
  );
}

async function migrationStatuses(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<readonly MigrationStatus[]> {
  const { rows: tables } = await client.query<{ known: boolean }>(
    "select to_regclass('skep_migrations') is not null as known",
  );
  const { rows } =
    tables[0]?.known === true
      ? await client.query<{ name: string; sha256: string; applied_at: Date }>('select * from skep_migrations')
      : { rows: [] };
  const applied = new Map(rows.map((row) => [row.name, row]));
  const ours = migrations.map(({ name, hash }): MigrationStatus => {
    const row = applied.get(name);
    if (row === undefined) return { name, state: 'pending' };
    const state = row.sha256 === hash ? 'applied' : 'changed';
    return { name, state, appliedAt: row.applied_at.toISOString() };
  });
  const names = new Set(migrations.map(({ name }) => name));
  const others = rows
    .filter(({ name }) => !names.has(name))
    .map((row): MigrationStatus => ({ name: row.name, state: 'unknown', appliedAt: row.applied_at.toISOString() }));
  return [...ours, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function pendingOf(
  migrations: readonly Migration[],
  statuses: readonly MigrationStatus[],
  address: DatabaseAddress,
): readonly Migration[] {
  for (const { name, state } of statuses) {
    if (state === 'changed') {
      const message = `${describePlace(address)}: ${name} was applied with another text`;
      throw new Failure('database-migration-changed', message, { data: { name } });
    }
    if (state === 'unknown') {
      const message = `${describePlace(address)}: ${name} was applied by a newer release`;
      throw new Failure('database-migration-unknown', message, { data: { name } });
    }
  }
  const pending = new Set(statuses.filter(({ state }) => state === 'pending').map(({ name }) => name));
  return migrations.filter(({ name }) => pending.has(name));
}

async function apply(client: pg.Client, migration: Migration, address: DatabaseAddress): Promise<void> {
  for (let run = 1; ; run += 1) {
    try {
      await applyOnce(client, migration);
      return;
    } catch (error) {
      if (isLocked(error) && run < TABLE_LOCK_TRIES) {
        await pause(LOCK_POLL_MS);
        continue;
      }
      const failure = databaseFailure(error, address);
      if (failure.retryable) throw failure;
      const { message, data } = failure;
      throw new Failure('database-migration-failed', `${migration.name}: ${message}`, { data, cause: error });
    }
  }
}

/** Applies a migration and stores its record, in one transaction unless the migration cannot run in a transaction. */
async function applyOnce(client: pg.Client, { name, sql, hash }: Migration): Promise<void> {
  const record = 'insert into skep_migrations (name, sha256) values ($1, $2)';
  if (sql.startsWith(NO_TRANSACTION)) {
    await client.query(sql);
    await client.query(record, [name, hash]);
    return;
  }
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${TABLE_LOCK_MS}`);
    await client.query(sql);
    await client.query(record, [name, hash]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof pgPackage().DatabaseError && error.code === NO_LOCK;
}

/**
 * Grants permissions on rows of our tables (named `catalogue_*`). Repeated in each run, so that a new application user
 * gets them too. Does nothing if the application user is the migration user.
 */
async function grant(client: pg.Client, appUser: string): Promise<void> {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select schemaname as schema, tablename as name from pg_tables
     where schemaname = current_schema() and starts_with(tablename, 'catalogue_') and current_user <> $1`,
    [appUser],
  );
  const [first] = rows;
  if (first === undefined) return;
  const role = pgPackage().escapeIdentifier(appUser);
  const tables = rows.map(
    ({ schema, name }) => `${pgPackage().escapeIdentifier(schema)}.${pgPackage().escapeIdentifier(name)}`,
  );
  await client.query(`grant usage on schema ${pgPackage().escapeIdentifier(first.schema)} to ${role}`);
  await client.query(`grant select, insert, update, delete on ${tables.join(', ')} to ${role}`);
}
