// Opens a catalogue database out of its settings, and brings its schema up to date. Files that the settings do not name
// are those of libpq's environment.

import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { migrate } from '#adapters/postgres/migrate.ts';
import { type DatabaseSettings, openPool } from '#adapters/postgres/pool.ts';
import { createStore, type Store } from '#adapters/postgres/store.ts';
import { Failure } from '#std/failure.ts';

/** Opens no connection yet. */
export function openDatabase(settings: DatabaseSettings): Store {
  return createStore(openPool(withFiles(settings)));
}

/** PGPASSFILE and PGSSLROOTCERT. */
export function withFiles<T extends DatabaseAddress>(address: T): T {
  const { passFile = process.env.PGPASSFILE, caFile = process.env.PGSSLROOTCERT } = address;
  return { ...address, passFile, caFile };
}

export interface MigrationUser {
  readonly user: string;
  /** Absent: the password file's. */
  readonly password?: string;
}

/** Not ours to migrate: someone else has the password or the right, or runs a newer release already. */
const LEFT_TO_OTHERS: readonly string[] = [
  'database-auth',
  'database-forbidden',
  'database-migration-unknown',
  'database-passfile-unreadable',
];

/**
 * Brings the schema up to date. Gives the names of what was applied, or the Failure that leaves it to others:
 * what works without goes on. Throws every other Failure.
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
