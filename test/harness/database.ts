// Databases for tests: each test file gets its own, copied from a migrated template on the run's real PostgreSQL.

import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { inject } from 'vitest';
import { asSuperuser, type TestServer } from './postgres-server.ts';

export interface TestDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Owns the schema. */
  readonly migrator: { readonly user: string; readonly password: string };
  /** Reads and writes rows, nothing else. */
  readonly app: { readonly user: string; readonly password: string };
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
    host,
    port,
    database,
    migrator,
    app,
    sql: (text, values = []) =>
      asSuperuser(server, database, async (client) => (await client.query(text, [...values])).rows),
    drop: () =>
      asSuperuser(server, 'postgres', async (client) => {
        await client.query(`drop database if exists ${database} with (force)`);
      }),
  };
}

/** The run's server; the first caller makes it start. */
export function testServer(): Promise<TestServer> {
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
