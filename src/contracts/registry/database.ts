// Defines the database settings of an MCPRegistry, with which the reconciler connects.

import type { RegistryConfigFile } from './config.ts';

export interface RegistryDatabaseTarget {
  readonly settings: NonNullable<RegistryConfigFile['database']>;
  /** Trusted certificate authorities. If not set, the operating system's authorities are trusted. */
  readonly caConfigMapRef?: { readonly name: string; readonly key: string };
  /**
   * Secrets in the MCPRegistry's namespace: the passwords of `settings.user` and `settings.migrationUser`, or a
   * password file.
   */
  readonly passwords: { readonly app: SecretKey; readonly migration: SecretKey } | { readonly file: SecretKey };
}

interface SecretKey {
  readonly name: string;
  readonly key: string;
}
