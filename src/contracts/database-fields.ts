// Defines the settings of a catalogue database, with defaults.

import { choice, duration, integer, port, text } from '#std/schema.ts';

/** Values of libpq's sslmode. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export const DATABASE_DEFAULTS = {
  host: 'postgres',
  port: 5432,
  user: 'db_app',
  migrationUser: 'db_migrator',
  database: 'registry',
  sslMode: 'prefer',
  maxOpenConns: 10,
  maxIdleConns: 2,
  connMaxLifetime: '30m',
} as const;

/** Fields of the database in resources and in skep.yaml. */
export const DATABASE = {
  host: text('Host name.', { default: DATABASE_DEFAULTS.host }),
  port: port('Port.', { default: DATABASE_DEFAULTS.port }),
  user: text('User of the service: SELECT, INSERT, UPDATE and DELETE.', { default: DATABASE_DEFAULTS.user }),
  migrationUser: text('User of the migrations: CREATE, ALTER and DROP.', { default: DATABASE_DEFAULTS.migrationUser }),
  database: text('Name of the database.', { default: DATABASE_DEFAULTS.database }),
  sslMode: choice('How TLS is used, as PostgreSQL names it.', SSL_MODES, { default: DATABASE_DEFAULTS.sslMode }),
  maxOpenConns: integer('Maximum number of connections. A sync uses up to four in addition.', {
    default: DATABASE_DEFAULTS.maxOpenConns,
    minimum: 1,
  }),
  maxIdleConns: integer('Number of idle connections that are kept open.', {
    default: DATABASE_DEFAULTS.maxIdleConns,
    minimum: 0,
  }),
  connMaxLifetime: duration('Maximum age of a connection, such as 30m.', {
    default: DATABASE_DEFAULTS.connMaxLifetime,
  }),
};
