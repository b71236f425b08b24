// The fields of `spec.databaseConfig` (document 2, MCPRegistryDatabaseConfig). Knows nothing about PostgreSQL.

import { choice, duration, integer, object, port, text } from '../../std/schema.ts';
import { secretKeySelector } from '../shared/selectors.ts';

/** PostgreSQL, by two users: one that may change the schema, one that may not. */
export const Database = object(
  {
    host: text('Host name.', { default: 'postgres' }),
    port: port('Port.', { default: 5432 }),
    user: text('User of the service: SELECT, INSERT, UPDATE and DELETE.', { default: 'db_app' }),
    migrationUser: text('User of the migrations: CREATE, ALTER and DROP.', { default: 'db_migrator' }),
    database: text('Name of the database.', { default: 'registry' }),
    sslMode: choice(
      'How TLS is used, as PostgreSQL names it.',
      ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
      { default: 'prefer' },
    ),
    maxOpenConns: integer('The most connections at a time.', { default: 10, minimum: 1 }),
    maxIdleConns: integer('How many connections are kept open without work.', { default: 2, minimum: 0 }),
    connMaxLifetime: duration('How long a connection is used.', { default: '30m' }),
    dbAppUserPasswordSecretRef: secretKeySelector('Password of user.'),
    dbMigrationUserPasswordSecretRef: secretKeySelector('Password of migrationUser.'),
  },
  'PostgreSQL, where the catalogue is stored.',
);
