// Defines the database of an MCPRegistry: the fields of `databaseConfig`, which the reconciler uses to connect.

import type { RegistryConfigFile } from './config.ts';

export interface RegistryDatabaseTarget {
  readonly settings: NonNullable<RegistryConfigFile['database']>;
  /** The CA certificates for the database server. If absent, the certificates that the system trusts are used. */
  readonly caConfigMapRef?: { readonly name: string; readonly key: string };
  /** Secrets of the MCPRegistry's namespace: with the passwords of `settings.user` and `settings.migrationUser`, or with a password file. */
  readonly passwords: { readonly app: SecretKey; readonly migration: SecretKey } | { readonly file: SecretKey };
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}
