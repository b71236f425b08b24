// Opens the dependencies with which an instance reads registry sources, and the catalogue databases.

import { join } from 'node:path';
import type { Outbound } from '#adapters/http/outbound.ts';
import type { DatabaseSettings } from '#adapters/postgres/pool.ts';
import { DATABASE_DEFAULTS } from '#contracts/database-fields.ts';
import { findPassword, type PasswordFor } from '#contracts/pgpass.ts';
import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import { configMapText } from '#kubernetes/rules/content.ts';
import type { View } from '#reconciler/kinds/kind.ts';
import type { RegistryDeps } from '#reconciler/run/catalogue/registries.ts';
import type { SyncMode } from '#reconciler/run/instance.ts';
import type { CatalogueWriter } from '#registry/catalogue/ports.ts';
import { Failure } from '#std/failure.ts';
import type { Config } from '../../config/config.ts';
import { type MigrationUser, migrateAtStart, openDatabase } from '../../database.ts';
import { registrySource, secretValue } from './registry-sources.ts';
import { type GitDeps, gitDeps, lentTo } from './repositories.ts';
import { type InstanceWatch, withReadsWatched } from './watch.ts';

/**
 * Returns the dependencies for Git sources of MCPRegistries in a namespace. These sources are read with Secrets of the
 * namespace, and with credentials in skep.yaml that the namespace may use.
 */
function registryGitDeps(config: Config, outbound: Outbound, namespace: string): GitDeps {
  const dir = join(config.stateDir, 'registries', namespace);
  return { ...gitDeps(config, outbound), dir, credentials: lentTo(config.git.credentials, namespace) };
}

/** Settings of a database, with the user that may change its schema. */
interface CatalogueDatabase {
  readonly app: DatabaseSettings;
  readonly owner: MigrationUser;
}

/** Returns the database of the MCPRegistry's `databaseConfig`, or the instance's own database. */
function databaseOf(config: Config, target: RegistryDatabaseTarget | undefined, view: View): CatalogueDatabase {
  if (target === undefined) {
    if (config.catalogue === undefined) {
      const message = 'MCPRegistry sources need a database: set catalogue.database in skep.yaml';
      throw new Failure('catalogue-not-configured', message);
    }
    return commonDatabase(config.catalogue);
  }
  const { host, port, user, migrationUser, database, sslMode } = { ...DATABASE_DEFAULTS, ...target.settings };
  const ca = certificates(view, target.caConfigMapRef);
  const passwordOf = passwordsOf(target.passwords, { host, port, database }, view);
  const password = passwordOf(user, 'app');
  return {
    app: { host, port, user, database, sslMode, ca, password, maxOpenConns: POOL_CONNECTIONS },
    owner: { user: migrationUser, password: passwordOf(migrationUser, 'migration') },
  };
}

/** Returns a function that returns passwords by user, and throws a Failure if a password is missing. */
function passwordsOf(
  passwords: RegistryDatabaseTarget['passwords'],
  place: Omit<PasswordFor, 'user'>,
  view: View,
): (user: string, whose: 'app' | 'migration') => string {
  if (!('file' in passwords)) return (_user, whose) => secretValue(view, passwords[whose]);
  const { name, key } = passwords.file;
  const text = secretValue(view, passwords.file);
  return (user) => {
    const found = findPassword(text, { ...place, user });
    if (found !== undefined) return found;
    throw new Failure('database-auth', `Secret ${name}, key ${key}: no line is for user ${user}`);
  };
}

function commonDatabase({ database }: NonNullable<Config['catalogue']>): CatalogueDatabase {
  const { migrationUser, services: _services, ...app } = database;
  return { app, owner: { user: migrationUser } };
}

/** Throws a Failure if the certificates are missing, because no connection may be opened without verification. */
function certificates(view: View, ref: RegistryDatabaseTarget['caConfigMapRef']): string | undefined {
  if (ref === undefined) return undefined;
  const text = configMapText(view.find('ConfigMap', ref.name), ref.key);
  if (text !== undefined) return text;
  throw new Failure('database-tls', `ConfigMap ${ref.name} has no certificates under the key ${ref.key}`);
}

/** Maximum number of connections of the pool for syncs. The registry service has its own pool. */
const POOL_CONNECTIONS = 4;

export interface Stores {
  /** Opens the catalogue. In mode `sync`, migrates the schema first. */
  open(database: CatalogueDatabase, mode: SyncMode): Promise<CatalogueWriter>;
  close(): Promise<void>;
}

/**
 * Returns false if the schema is not migrated yet, so that a later call tries again. An unavailable database is
 * reported when it is used.
 */
async function isMigrated({ app, owner }: CatalogueDatabase): Promise<boolean> {
  try {
    return !((await migrateAtStart(app, owner)) instanceof Failure);
  } catch (failure) {
    if (failure instanceof Failure && failure.retryable) return false;
    throw failure;
  }
}

/** Opens one connection pool per database. */
export function openStores(): Stores {
  const opened = new Map<string, ReturnType<typeof openDatabase>>();
  const migrated = new Set<string>();
  return {
    async open(database, mode) {
      const key = JSON.stringify(database);
      if (mode === 'sync' && !migrated.has(key) && (await isMigrated(database))) migrated.add(key);
      const store = opened.get(key) ?? openDatabase(database.app);
      opened.set(key, store);
      return store;
    },
    async close() {
      await Promise.all([...opened.values()].map((store) => store.close()));
    },
  };
}

export function registryDeps(
  config: Config,
  outbound: Outbound,
  stores: Stores,
  watch: InstanceWatch,
  beside?: RegistryDeps['beside'],
): RegistryDeps {
  return {
    beside,
    sourceFor: (view, namespace) =>
      withReadsWatched(registrySource(registryGitDeps(config, outbound, namespace), view), watch),
    storeFor: async (kind, registry, view, mode) =>
      stores.open(databaseOf(config, kind.database(registry), view), mode),
    commonStore: async () => config.catalogue && stores.open(commonDatabase(config.catalogue), 'sync'),
  };
}
