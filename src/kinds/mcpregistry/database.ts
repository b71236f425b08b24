// The database that a registry names for itself. Knows nothing about connections.

import type { RegistryDatabaseTarget } from '../../contracts/registry/database.ts';
import type { RegistrySpec } from './facts.ts';

/** Undefined: the registry uses the instance's own. */
export function databaseTarget({ databaseConfig }: RegistrySpec): RegistryDatabaseTarget | undefined {
  if (databaseConfig === undefined) return undefined;
  const { dbAppUserPasswordSecretRef, dbMigrationUserPasswordSecretRef, ...settings } = databaseConfig;
  return {
    settings,
    passwordSecretRef: pickKey(dbAppUserPasswordSecretRef),
    migrationPasswordSecretRef: pickKey(dbMigrationUserPasswordSecretRef),
  };
}

function pickKey({ name, key }: { readonly name: string; readonly key: string }) {
  return { name, key };
}
