// Opens a catalogue database from its settings, and migrates its schema. Files that the settings do not name come from
// the environment variables of libpq.

import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { type DatabaseSettings, openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import { Failure } from '#std/failure.ts';

/** Creates a store. It opens no connection until it is used. */
export function openDatabase(settings: DatabaseSettings): Store {
  return createStore(openPool(withFiles(settings)));
}

/** Adds PGPASSFILE and PGSSLROOTCERT if the settings name no files. */
export function withFiles<T extends DatabaseAddress>(address: T): T {
  const { passFile = process.env.PGPASSFILE, caFile = process.env.PGSSLROOTCERT } = address;
  return { ...address, passFile, caFile };
}

export interface MigrationUser {
  readonly user: string;
  /** If absent, the password comes from the password file. */
  readonly password?: string;
}

/** Codes after which another process migrates: it has the password or the right, or runs a newer release. */
const LEFT_TO_OTHERS: readonly string[] = [
  'database-auth',
  'database-forbidden',
  'database-migration-unknown',
  'database-passfile-unreadable',
];

/**
 * Migrates the schema. Returns the names of the applied migrations, or the Failure because of which another process
 * must migrate: this process goes on without a migration. Throws every other Failure.
 */
export async function migrateAtStart(app: DatabaseAddress, owner: MigrationUser): Promise<readonly string[] | Failure> {
  const { password: _app, ...place } = app;
  try {
    return await migrate(withFiles({ ...place, ...owner }), { appUser: app.user });
  } catch (failure) {
    if (failure instanceof Failure && LEFT_TO_OTHERS.includes(failure.code)) return failure;
    throw failure;
  }
}
