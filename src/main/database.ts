// Opens a catalogue database out of its settings: PGPASSFILE where no password file is named.

import type { DatabaseAddress } from '../adapters/postgres/connect.ts';
import { type DatabaseSettings, openPool } from '../adapters/postgres/pool.ts';
import { createStore, type Store } from '../adapters/postgres/store.ts';

/** Opens no connection yet. */
export function openDatabase(settings: DatabaseSettings): Store {
  return createStore(openPool(withPassFile(settings)));
}

export function withPassFile<T extends DatabaseAddress>(address: T): T {
  const passFile = address.passFile ?? process.env.PGPASSFILE;
  return passFile === undefined ? address : { ...address, passFile };
}
