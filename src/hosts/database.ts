// Opens a catalogue database, and migrates its schema. libpq's environment variables name the files that the settings
// do not name.

import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { type DatabaseSettings, openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import { Failure } from '#std/failure.ts';

/** Creates a store, which opens no connection before it is used. */
export function openDatabase(settings: DatabaseSettings): Store {
  return createStore(openPool(withFiles(settings)));
}

/** Returns the address with files from PGPASSFILE and PGSSLROOTCERT, unless the address names files. */
export function withFiles<T extends DatabaseAddress>(address: T): T {
  const { passFile = process.env.PGPASSFILE, caFile = process.env.PGSSLROOTCERT } = address;
  return { ...address, passFile, caFile };
}

export interface MigrationUser {
  readonly user: string;
  /** If not set, the password comes from the password file. */
  readonly password?: string;
}

/**
 * Codes of Failures after which another process must migrate, because it has the password or the right, or is a newer
 * release.
 */
const LEFT_TO_OTHERS: readonly string[] = [
  'database-auth',
  'database-forbidden',
  'database-migration-unknown',
  'database-passfile-unreadable',
];

/**
 * Migrates the schema, and returns the names of the applied migrations. Returns a Failure if another process must
 * migrate, so that this process can continue. Throws every other Failure.
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
