// Renders the password file of a registry's database, from the two Secrets with the passwords. Source: the PostgreSQL
// manual, libpq, "The Password File".

import { secretBytes } from '#kubernetes/rules/content.ts';
import type { Finding, Settings, View } from '../kind.ts';
import type { Registry, RegistrySpec } from './facts.ts';

type Database = NonNullable<RegistrySpec['databaseConfig']>;
type Selector = Database['dbAppUserPasswordSecretRef'];

/** Returns the Secrets with the passwords, or the Secret with the file. */
export function passwordRefs(
  { spec: { databaseConfig } }: Registry,
  { catalogueDatabase }: Pick<Settings, 'catalogueDatabase'>,
): readonly Selector[] {
  const named = catalogueDatabase?.services?.passFileSecret;
  if (databaseConfig === undefined) return named === undefined ? [] : [named];
  return [databaseConfig.dbAppUserPasswordSecretRef, databaseConfig.dbMigrationUserPasswordSecretRef];
}

/** Writes one line for each user. Returns undefined if a password is missing. */
export function passwordFile(database: Database, view: View): string | undefined {
  const { host, port, database: name, user, migrationUser } = database;
  const users = [
    { user, password: secretText(view, database.dbAppUserPasswordSecretRef) },
    { user: migrationUser, password: secretText(view, database.dbMigrationUserPasswordSecretRef) },
  ];
  const lines = users.map(({ user, password }) =>
    password === undefined ? undefined : [host, String(port), name, user, password].map(escaped).join(':'),
  );
  return lines.includes(undefined) ? undefined : `${lines.join('\n')}\n`;
}

/** Reports passwords that the file cannot contain. Their values are not shown. */
export function passwordFindings(database: Database | undefined, view: View): readonly Finding[] {
  if (database === undefined) return [];
  return (['dbAppUserPasswordSecretRef', 'dbMigrationUserPasswordSecretRef'] as const).flatMap((field): Finding[] => {
    const { name, key } = database[field];
    const password = secretText(view, database[field]);
    const pointer = `/spec/databaseConfig/${field}`;
    if (password === undefined) {
      return [{ ...FAULT, pointer, message: `Secret ${name} has no text under the key ${key}` }];
    }
    if (!/[\r\n]/.test(password)) return [];
    return [{ ...FAULT, pointer, message: `Secret ${name}, key ${key}: a password cannot contain a line break` }];
  });
}

const FAULT = { code: 'database-password-unusable', severity: 'error' } as const;

function escaped(field: string): string {
  return field.replaceAll('\\', '\\\\').replaceAll(':', '\\:');
}

/** Returns a Secret's value as text, without the line break that editors add at the end. */
function secretText(view: View, { name, key }: Selector): string | undefined {
  return secretBytes(view.find('Secret', name), key)
    ?.toString('utf8')
    .replace(/\r?\n$/, '');
}
