// The database an MCPRegistry names for itself: what `databaseConfig` says and the reconciler connects with.

import type { RegistryConfigFile } from './config.ts';

export interface RegistryDatabaseTarget {
  readonly settings: NonNullable<RegistryConfigFile['database']>;
  /** Where the certificates are that its server is checked by; absent: those that the system trusts. */
  readonly caConfigMapRef?: { readonly name: string; readonly key: string };
  /** Secrets of the MCPRegistry's namespace: with the passwords of `settings.user` and `settings.migrationUser`, or with a password file. */
  readonly passwords: { readonly app: SecretKey; readonly migration: SecretKey } | { readonly file: SecretKey };
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}
