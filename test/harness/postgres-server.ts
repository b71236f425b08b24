// Provides one PostgreSQL server for a vitest run, on the first request of a test file. Uses $TEST_DATABASE_URL (URL of
// a superuser) if set, otherwise starts PostgreSQL of the operating system, otherwise PostgreSQL of the npm package.

import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server as Listener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { embeddedBinaries, serverAccount, systemBinaries } from '#adapters/postgres/embedded/binaries.ts';
import { initCluster, type ServerOptions, startServer } from '#adapters/postgres/embedded/server.ts';
import { migrate } from '#adapters/postgres/migrate.ts';

/** The settings with which a test file creates its own database. */
export interface TestServer {
  readonly host: string;
  readonly port: number;
  readonly superuser: { readonly user: string; readonly password: string };
  readonly migrator: { readonly user: string; readonly password: string };
  readonly app: { readonly user: string; readonly password: string };
  /** Prefix of the names of databases and roles that this run creates on the server. */
  readonly prefix: string;
  /** Database from which new databases are copied. */
  readonly template: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Port on 127.0.0.1 that answers every connection with a TestServer as JSON. */
    postgresHarness: number;
  }
}

interface Running {
  readonly server: TestServer;
  stop(): Promise<void>;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let running: Promise<Running> | undefined;
  const listener = createServer((socket) => {
    running ??= start();
    running.then(
      ({ server }) => socket.end(JSON.stringify({ server })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
    socket.on('error', () => socket.destroy());
  });
  project.provide('postgresHarness', await listen(listener));
  return async () => {
    await new Promise((resolve) => listener.close(resolve));
    const started = await running?.catch(() => undefined);
    await started?.stop();
  };
}

function listen(listener: Listener): Promise<number> {
  return new Promise((resolve) => {
    listener.listen(0, '127.0.0.1', () => {
      listener.unref();
      const address = listener.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function start(): Promise<Running> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    const url = new URL(given);
    const server = await prepare(
      url.hostname,
      Number(url.port || 5432),
      decodeURIComponent(url.username || 'postgres'),
      decodeURIComponent(url.password),
    );
    return { server, stop: () => clean(server) };
  }
  return await startOwn();
}

async function startOwn(): Promise<Running> {
  const own = await createCluster();
  try {
    const process = await startServer(own.options);
    const server = await prepare(process.host, process.port, 'postgres', '');
    async function stop(): Promise<void> {
      await process.stop();
      own.remove();
    }
    return { server, stop };
  } catch (error) {
    own.remove();
    throw error;
  }
}

export interface Cluster {
  /** Options for `startServer`. */
  readonly options: ServerOptions;
  /** Parent of the data directory, readable by the server's account. */
  readonly home: string;
  remove(): void;
}

/**
 * Creates a data directory that accepts local connections without a password, for tests that start their own server.
 */
export async function createCluster(): Promise<Cluster> {
  const binaries = systemBinaries() ?? embeddedBinaries();
  if (binaries === undefined) throw new Error('no PostgreSQL: set TEST_DATABASE_URL, or install one, or run npm ci');
  const account = serverAccount();
  const home = mkdtempSync(join(tmpdir(), 'skep-test-postgres-'));
  if (account !== undefined) chownSync(home, account.uid, account.gid);
  const options: ServerOptions = {
    binaries,
    dataDir: join(home, 'data'),
    account,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
    removeWhenOrphaned: home,
  };
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    await initCluster(options, 'trust', false);
    return { options, home, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Creates the roles and the template database. Roles exist for the whole server, so their names have the run's prefix.
 */
async function prepare(host: string, port: number, user: string, password: string): Promise<TestServer> {
  const prefix = `skep_test_${randomBytes(4).toString('hex')}`;
  const server: TestServer = {
    host,
    port,
    superuser: { user, password },
    migrator: { user: `${prefix}_migrator`, password: randomBytes(8).toString('hex') },
    app: { user: `${prefix}_app`, password: randomBytes(8).toString('hex') },
    prefix,
    template: `${prefix}_template`,
  };
  await asSuperuser(server, 'postgres', async (client) => {
    for (const role of [server.migrator, server.app]) {
      await client.query(`create role ${role.user} login password '${role.password}'`);
    }
    await createTemplate(client, server);
  });
  const template = { host, port, database: server.template, sslMode: 'disable', ...server.migrator } as const;
  await migrate(template, { appUser: server.app.user });
  return server;
}

/**
 * Creates the template, with an English collation if the server supports it. Code that needs code-point order then
 * fails.
 */
async function createTemplate(client: pg.Client, { template, migrator }: TestServer): Promise<void> {
  const create = `create database ${template} owner ${migrator.user}`;
  const english = `${create} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'`;
  await client.query(english).catch(() => client.query(create));
}

async function clean(server: TestServer): Promise<void> {
  await asSuperuser(server, 'postgres', async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [server.prefix],
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
    for (const role of [server.migrator, server.app]) await client.query(`drop role if exists ${role.user}`);
  });
}

/** Calls `work` with a superuser's connection, to create and drop databases and roles. */
export async function asSuperuser<T>(
  server: TestServer,
  database: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ host: server.host, port: server.port, ...server.superuser, database, ssl: false });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
