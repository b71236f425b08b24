// The fields of `spec.databaseConfig`. Knows nothing about PostgreSQL.

import { DATABASE_DEFAULTS, SSL_MODES } from '../../contracts/database-defaults.ts';
import { choice, duration, integer, object, port, text } from '../../std/schema.ts';
import { secretKeySelector } from '../selectors.ts';

/** PostgreSQL, by two users: one that may change the schema, one that may not. */
export const Database = object(
  {
    host: text('Host name.', { default: DATABASE_DEFAULTS.host }),
    port: port('Port.', { default: DATABASE_DEFAULTS.port }),
    user: text('User of the service: SELECT, INSERT, UPDATE and DELETE.', { default: DATABASE_DEFAULTS.user }),
    migrationUser: text('User of the migrations: CREATE, ALTER and DROP.', {
      default: DATABASE_DEFAULTS.migrationUser,
    }),
    database: text('Name of the database.', { default: DATABASE_DEFAULTS.database }),
    sslMode: choice('How TLS is used, as PostgreSQL names it.', SSL_MODES, { default: DATABASE_DEFAULTS.sslMode }),
    maxOpenConns: integer('The most connections at a time.', { default: DATABASE_DEFAULTS.maxOpenConns, minimum: 1 }),
    maxIdleConns: integer('How many connections are kept open without work.', {
      default: DATABASE_DEFAULTS.maxIdleConns,
      minimum: 0,
    }),
    connMaxLifetime: duration('How long a connection is used.', { default: DATABASE_DEFAULTS.connMaxLifetime }),
    dbAppUserPasswordSecretRef: secretKeySelector('Password of user.'),
    dbMigrationUserPasswordSecretRef: secretKeySelector('Password of migrationUser.'),
  },
  'PostgreSQL, where the catalogue is stored.',
);
