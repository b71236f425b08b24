// Reads the database settings of a registry.

import type { RegistryDatabaseTarget } from '#contracts/registry/database.ts';
import { registryAnnotations } from './annotations.ts';
import type { EffectiveRegistry } from './facts.ts';

/** Returns the database of the registry; undefined if the registry uses the instance's database. */
export function databaseTarget(self: EffectiveRegistry): RegistryDatabaseTarget | undefined {
  const { databaseConfig } = self.spec;
  if (databaseConfig === undefined) return undefined;
  const { settings, passwords } = databaseConfig;
  return {
    settings,
    caConfigMapRef: registryAnnotations(self).databaseCA,
    passwords:
      'file' in passwords
        ? { file: pickKey(passwords.file) }
        : { app: pickKey(passwords.app), migration: pickKey(passwords.migration) },
  };
}

function pickKey({ name, key }: { readonly name: string; readonly key: string }) {
  return { name, key };
}
