// Reads a registry's own database settings.

import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import { registryAnnotations } from './annotations.ts';
import type { Registry } from './facts.ts';

/** Returns undefined if the registry uses the instance's database. */
export function databaseTarget(self: Registry): RegistryDatabaseTarget | undefined {
  const { databaseConfig } = self.spec;
  if (databaseConfig === undefined) return undefined;
  const { dbAppUserPasswordSecretRef, dbMigrationUserPasswordSecretRef, ...settings } = databaseConfig;
  return {
    settings,
    caConfigMapRef: registryAnnotations(self).databaseCA,
    passwordSecretRef: pickKey(dbAppUserPasswordSecretRef),
    migrationPasswordSecretRef: pickKey(dbMigrationUserPasswordSecretRef),
  };
}

function pickKey({ name, key }: { readonly name: string; readonly key: string }) {
  return { name, key };
}
