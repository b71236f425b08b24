// The database an MCPRegistry names for itself: what `databaseConfig` says and the reconciler connects with.

import type { RegistryConfigFile } from './config.ts';

export interface RegistryDatabaseTarget {
  readonly settings: NonNullable<RegistryConfigFile['database']>;
  /** Where the certificates are that its server is checked by; absent: those that the system trusts. */
  readonly caConfigMapRef?: { readonly name: string; readonly key: string };
  /** Where the password of `settings.user` is, in the MCPRegistry's namespace. */
  readonly passwordSecretRef: { readonly name: string; readonly key: string };
  /** The same of `settings.migrationUser`. */
  readonly migrationPasswordSecretRef: { readonly name: string; readonly key: string };
}
