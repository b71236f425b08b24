// A real PostgreSQL with the catalogue's schema, as `skep dev` has it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { startEmbedded } from '#adapters/postgres/embedded/embedded.ts';
import { migrate } from '#adapters/postgres/migrate.ts';

export interface BenchDatabase {
  readonly migrator: DatabaseAddress;
  readonly app: DatabaseAddress;
  /** Password file of the application user. */
  readonly passFile: string;
  /** Of the server's first process, which has started the others. */
  readonly pid: number;
  stop(): Promise<void>;
}

export async function openBenchDatabase(folder: string): Promise<BenchDatabase> {
  const migrator = { user: 'db_migrator', password: 'migrator' };
  const app = { user: 'db_app', password: 'app' };
  const database = await startEmbedded({ dir: join(folder, 'postgres'), database: 'registry', migrator, app });
  await migrate(database.migrator, { appUser: app.user });
  const passFile = join(folder, 'pgpass');
  writeFileSync(passFile, `*:*:*:${app.user}:${app.password}\n`, { mode: 0o600 });
  const pid = Number.parseInt(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8'), 10);
  return { ...database, passFile, pid };
}
