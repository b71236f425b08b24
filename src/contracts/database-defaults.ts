// What holds of a catalogue database where nothing is said. Knows nothing about connections.

/** As libpq means them. */
export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
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
