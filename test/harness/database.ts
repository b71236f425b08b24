// Databases for tests: each test file gets its own, copied from a migrated template on the run's real PostgreSQL.

import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { inject } from 'vitest';
import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { asSuperuser, type TestServer } from './postgres-server.ts';

export interface TestDatabase {
  /** Connection settings of the user who owns the schema. */
  readonly migrator: DatabaseAddress;
  /** Of the user who reads and writes rows, nothing else: what `openPool` takes. */
  readonly app: DatabaseAddress;
  /** Runs one statement with all rights, for looking behind the scenes. */
  sql<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Call it in `afterAll`. Open connections are cut. */
  drop(): Promise<void>;
}

/** A fresh database with the schema migrated, or an empty one that only the migrator owns. */
export async function createTestDatabase(schema: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const server = await testServer();
  const database = `${server.prefix}_${randomBytes(4).toString('hex')}`;
  const source = schema === 'migrated' ? server.template : 'template1';
  await asSuperuser(server, 'postgres', (client) =>
    client.query(`create database ${database} template ${source} owner ${server.migrator.user}`),
  );
  const { host, port, migrator, app } = server;
  return {
    migrator: { host, port, database, sslMode: 'disable', ...migrator },
    app: { host, port, database, sslMode: 'disable', ...app },
    sql: (text, values = []) =>
      asSuperuser(server, database, async (client) => (await client.query(text, [...values])).rows),
    drop: () =>
      asSuperuser(server, 'postgres', async (client) => {
        await client.query(`drop database if exists ${database} with (force)`);
      }),
  };
}

/** Returns the settings of the database, without passwords, as resources and configurations have them. */
export function databaseSettings({ app, migrator }: TestDatabase) {
  const { host, port, user, database, sslMode } = app;
  return { host, port, user, migrationUser: migrator.user, database, sslMode };
}

/** The run's server; the first caller makes it start. */
function testServer(): Promise<TestServer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: inject('postgresHarness') });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('error', reject);
    socket.once('end', () => {
      const answer: { server?: TestServer; error?: string } = JSON.parse(text);
      if (answer.server === undefined) reject(new Error(answer.error ?? 'the PostgreSQL harness gave no answer'));
      else resolve(answer.server);
    });
  });
}
