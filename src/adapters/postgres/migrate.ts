// Brings the database's schema up to date with the SQL files in `migrations`, as the migration user. The
// application user only gets rights on rows.

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
  /** Folder of `NNNN-name.sql` files; default: our own. */
  readonly directory?: string;
}

export interface MigrationStatus {
  /** File name. */
  readonly name: string;
  /** `changed`: applied with another text. `unknown`: applied by a newer release, and this release lacks the file. */
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
 * How long a migration waits for a table that is in use. Meanwhile all clients of the table wait, readers too. The
 * migration then lets them continue, and tries again. Replicas of the previous release keep serving. Well below
 * PostgreSQL's `deadlock_timeout` (1 s): if a replica and the migration wait for each other's tables, the migration
 * gives way.
 */
const TABLE_LOCK_MS = 300;
const TABLE_LOCK_TRIES = 100;
/** lock_not_available (PostgreSQL, appendix A). */
const NO_LOCK = '55P03';
/** A number that no other program locks: the first 8 bytes of our name's digest. */
const LOCK_KEY = BigInt.asIntN(64, BigInt(`0x${sha256('skep migrations').slice(0, 16)}`)).toString();
/** First line of a file that cannot run in a transaction (CREATE INDEX CONCURRENTLY). */
const NO_TRANSACTION = '-- no transaction';

/**
 * Applies pending migrations, each file and its record in one transaction, and grants the application user its rights.
 * If several processes migrate at the same time, one works while the other processes wait. Returns the names of the
 * applied files.
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

/** Returns the state of all migrations; changes nothing. */
export async function readMigrationStatus(
  address: DatabaseAddress,
  directory?: string,
): Promise<readonly MigrationStatus[]> {
  const migrations = await readMigrations(directory);
  return await connected(address, (client) => migrationStatuses(client, migrations));
}

async function connected<T>(address: DatabaseAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  // Building an index may take any time.
  const { client } = await connect({ statementTimeoutMs: 0, ...address });
  try {
    return await work(client);
  } catch (error) {
    throw databaseFailure(error, address);
  } finally {
    // Ends the session, and with it the lock.
    await client.end().catch(() => undefined);
  }
}

/** Polls, because waiting inside the database would deadlock with CREATE INDEX CONCURRENTLY of the holder. */
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

/** Writes the file's changes and its record together, or neither. */
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
 * Grants only rights on rows of our tables (named `catalogue_*`). Repeated at each run, so that a new application user
 * gets the rights, too. Does nothing if the application user is the migration user.
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
