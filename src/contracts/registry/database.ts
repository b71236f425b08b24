// Defines the database of an MCPRegistry: the fields of `databaseConfig`, which the reconciler uses to connect.

import type { RegistryConfigFile } from './config.ts';

export interface RegistryDatabaseTarget {
  readonly settings: NonNullable<RegistryConfigFile['database']>;
  /** The certificates by which its server is verified. If absent, those that the system trusts are used. */
  readonly caConfigMapRef?: { readonly name: string; readonly key: string };
  /** The Secret with the password of `settings.user`, in the MCPRegistry's namespace. */
  readonly passwordSecretRef: { readonly name: string; readonly key: string };
  /** The same for `settings.migrationUser`. */
  readonly migrationPasswordSecretRef: { readonly name: string; readonly key: string };
}
