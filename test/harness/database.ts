// Creates databases for tests on the real PostgreSQL of the test run. Each test file gets a copy of a migrated
// template.

import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { inject } from 'vitest';
import type { DatabaseAddress } from '#adapters/postgres/connect.ts';
import { asSuperuser, type TestServer } from './postgres-server.ts';

export interface TestDatabase {
  /** Connection settings of the user who owns the schema. */
  readonly migrator: DatabaseAddress;
  /** Connection settings, for `openPool`, of the user who may only read and write rows. */
  readonly app: DatabaseAddress;
  /** Runs a statement as superuser. */
  sql<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Drops the database and closes its open connections. Test files call it in `afterAll`. */
  drop(): Promise<void>;
}

/** Creates a database with the migrated schema, or an empty database that the migrator owns. */
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

/** Returns the server of the test run. The first call in the run starts the server. */
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
